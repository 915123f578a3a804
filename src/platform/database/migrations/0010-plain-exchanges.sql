-- The JSON of an exchange is plain JSON. Rows of the earlier form are at most 24 hours old, and are not kept.

delete from exchanges;
