-- Lists of the console: refusals grouped by their subject, and the messages that were not delivered.

alter table exchanges add column code text;
alter table exchanges add column field text;
drop index exchanges_refused;
create index exchanges_refused on exchanges (account, exchange_id, kind, operation, status, code, field)
  where refused = 1;
create index webhook_messages_failed on webhook_messages (webhook_id, message_id) where status = 'FAILED';
