-- The statuses that a payment is or was in, as bits in the order of `statuses`. Null in rows of earlier versions:
-- their bodies have the statuses.

alter table payments add column passed integer;
