-- A hash of a refusal's sentence, without its values: refusals with another sentence are another group.

alter table exchanges add column told text;
drop index exchanges_refused;
create index exchanges_refused on exchanges (account, exchange_id, kind, operation, status, code, field, told)
  where refused = 1;
