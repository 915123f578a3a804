-- A webhook of `farthing listen` has a time until which somebody listens; the time is null for any other webhook.

alter table webhooks add column listening_until bigint;
create index webhooks_of_listeners on webhooks (account, webhook_id) where listening_until is not null;
