-- The console lists the test accounts of a parent that have ended.

create index accounts_ended on accounts (parent, expires) where ended = 1;
