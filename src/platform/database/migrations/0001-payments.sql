-- Written in PostgreSQL's dialect; src/platform/database/sqlite/connection.ts translates it for SQLite.
-- Identifiers begin with the time of creation, so every key here is appended to, and a payment's
-- created_date is read from its identifier. `body` has the given fields, and values that cannot be derived.

create table payments (
  payment_id text collate "C" primary key,
  account text not null,
  version integer not null,
  status text not null,
  amount integer not null,
  refunded_amount integer not null check (refunded_amount between 0 and amount),
  reference_folded text not null,
  reference_group integer not null,
  email_folded text,
  cardholder_name_folded text,
  card_brand text,
  first_digits text,
  last_digits text,
  agreement_id text,
  body text not null
);
create index payments_by_account on payments (account, payment_id);
create index payments_by_status on payments (account, status, payment_id);
create index payments_by_reference
  on payments (account, reference_group, payment_id, reference_folded);
create index payments_by_agreement on payments (agreement_id, payment_id) where agreement_id is not null;

-- The number of payments that were created in some two hours: see src/pay/retention.ts.
create table payment_counts (
  account text not null,
  bucket text collate "C" not null,
  payments integer not null,
  primary key (account, bucket)
);

create table idempotency_keys (
  account text not null,
  idempotency_key text collate "C" not null,
  payment_id text collate "C" not null,
  primary key (account, idempotency_key)
);
create index idempotency_keys_by_payment on idempotency_keys (payment_id);

create table refunds (
  refund_id text collate "C" not null,
  payment_id text collate "C" not null,
  account text not null,
  amount integer not null check (amount > 0),
  primary key (payment_id, refund_id)
);
create index refunds_by_account on refunds (account, refund_id);

create table agreements (
  agreement_id text collate "C" primary key,
  account text not null,
  version integer not null,
  status text not null,
  reference_folded text not null,
  body text not null
);
create index agreements_by_account on agreements (account, agreement_id);
create index agreements_by_reference on agreements (account, reference_folded, agreement_id);

create table webhooks (
  webhook_id text collate "C" primary key,
  account text not null,
  status text not null,
  body text not null
);
create index webhooks_by_account on webhooks (account, webhook_id);

create table webhook_messages (
  message_id text collate "C" primary key,
  webhook_id text collate "C" not null,
  payment_id text collate "C" not null,
  event_type text not null,
  created bigint not null,
  status text not null,
  attempts text not null,
  claimed_until bigint not null,
  body text
);
create index webhook_messages_by_webhook on webhook_messages (webhook_id, message_id);
create index webhook_messages_pending on webhook_messages (webhook_id, message_id) where status = 'PENDING';
create index webhook_messages_by_payment on webhook_messages (payment_id) where body is not null;

create table api_keys (
  key_id text collate "C" primary key,
  account text not null,
  hash text not null unique,
  created bigint not null,
  revoked bigint
);
