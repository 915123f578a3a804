-- The reference, folded, in the body of a refused creation: without a payment, only this finds the request.

alter table exchanges add column reference_folded text collate "C";
create index exchanges_by_reference on exchanges (account, reference_folded, exchange_id)
  where reference_folded is not null;
