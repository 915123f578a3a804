-- A sweep that was stopped left such rows to the next. Now the payment is deleted last, and by it the others are found.

delete from refunds
where not exists (select 1 from payments where payments.payment_id = refunds.payment_id);
delete from idempotency_keys
where not exists (select 1 from payments where payments.payment_id = idempotency_keys.payment_id);
update webhook_messages set body = null, due_at = null,
  status = case when status = 'PENDING' then 'FAILED' else status end
where body is not null
  and not exists (select 1 from payments where payments.payment_id = webhook_messages.payment_id);
