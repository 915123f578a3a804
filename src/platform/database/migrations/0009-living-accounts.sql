-- Ended test accounts keep their row, so that their names stay taken. Work for each new
-- account, and work of each minute, should not read these rows.

drop index accounts_by_parent;
create index accounts_living on accounts (parent, expires) where ended = 0;
create index accounts_by_expiry on accounts (expires) where expires is not null;
