-- The behaviour of the message's payment, which decides how often the message is sent, and when.
alter table webhook_messages add column sent_as text not null default 'specification';

-- The time of the next attempt: milliseconds on the account's clock. null for a first attempt: that is machine time.
alter table webhook_messages add column due_at bigint;
create index webhook_messages_by_due on webhook_messages (webhook_id, due_at) where due_at is not null;
