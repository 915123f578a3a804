-- How the payment of the message behaves: how often it is sent, and when.
alter table webhook_messages add column sent_as text not null default 'specification';

-- When it is to be sent again: milliseconds on the account's clock. null for a first attempt, which is machine time.
alter table webhook_messages add column due_at bigint;
create index webhook_messages_by_due on webhook_messages (webhook_id, due_at) where due_at is not null;
