-- Lists of messages: the first of a payment, in their order, and whether a receiver has accepted one by hand.

drop index webhook_messages_by_payment;
create index webhook_messages_by_payment on webhook_messages (payment_id, message_id) where body is not null;
create index exchanges_accepted_by_hand on exchanges (payment_id, message_id, exchange_id)
  where kind = 'out' and refused = 0 and by_hand = 'again';
