-- The record: API requests, requests for hosted pages, and webhook attempts (src/tools/record).

create table exchanges (
  exchange_id text collate "C" primary key,
  account text not null,
  payment_id text collate "C",
  message_id text collate "C",
  kind text not null,
  operation text not null,
  status integer,
  refused integer not null,
  body text not null
);
create index exchanges_by_account on exchanges (account, exchange_id);
create index exchanges_by_payment on exchanges (payment_id, exchange_id) where payment_id is not null;
create index exchanges_refused on exchanges (account, exchange_id) where refused = 1;
