-- 'error' for a refund that fails after it was submitted.
alter table refunds add column scenario text not null default 'success';
