-- The messages that are being sent, or that a stopped instance left. Those that wait for a time have their own index:
-- hundreds of thousands may wait, and each look for a stopped instance read them all.

drop index webhook_messages_pending;
create index webhook_messages_unsent on webhook_messages (webhook_id, message_id)
  where status = 'PENDING' and due_at is null;
