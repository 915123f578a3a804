-- The searchable facts of an exchange: its method, whether it breaks a rule of the check, and how it was sent by hand.

alter table exchanges add column method text;
alter table exchanges add column broken integer not null default 0;
alter table exchanges add column by_hand text;
