-- Whether a receiver has accepted a message by hand, which is looked up for each failed message of a list.

create index exchanges_accepted_by_hand on exchanges (payment_id, message_id, exchange_id)
  where kind = 'out' and refused = 0 and by_hand = 'again';
