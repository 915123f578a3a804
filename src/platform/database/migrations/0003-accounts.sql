-- An account owns keys and has a clock. Every other table has the `room` in its column `account`.

create table accounts (
  name text collate "C" primary key,
  room text collate "C" not null unique,
  clock_offset bigint not null,
  frozen_at bigint
);
insert into accounts (name, room, clock_offset, frozen_at)
  select account, account, 0, null from (
    select 'default' as account
    union select account from api_keys
    union select account from payments
    union select account from agreements
    union select account from webhooks
  ) known;
