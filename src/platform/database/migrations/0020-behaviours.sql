-- How an account answers where the specification and GOV.UK Pay differ.
alter table accounts add column behaviour text not null default 'specification';

-- The time at which the payment's next step is due: milliseconds on the account's clock.
alter table payments add column due_at bigint;
create index payments_by_due on payments (account, due_at) where due_at is not null;
