-- Each change of a payment reads the active webhooks. An account may have deactivated any number of others.
create index webhooks_active on webhooks (account, webhook_id) where status = 'ACTIVE';

-- The sweep deletes the keys of expired test accounts.
create index api_keys_by_account on api_keys (account);

-- The due messages of a webhook in their order: while a clock stands still, all may be due at the same time.
drop index webhook_messages_by_due;
create index webhook_messages_by_due on webhook_messages (webhook_id, due_at, message_id) where due_at is not null;

-- A search of refunds counts those whose payments are not gone, by this index alone.
drop index refunds_by_account;
create index refunds_by_account on refunds (account, refund_id, payment_id);
