-- When a held refund was ended. The end of any other follows from its creation.
alter table refunds add column ended_at bigint;
