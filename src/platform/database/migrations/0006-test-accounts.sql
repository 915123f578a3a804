-- A test account has a parent and expires. `epoch` counts the resets of an account; each gives it a new room.

alter table accounts add column parent text collate "C";
alter table accounts add column epoch integer not null default 0;
alter table accounts add column expires bigint;
alter table accounts add column ended integer not null default 0;
create index accounts_by_parent on accounts (parent, expires) where parent is not null;

-- Rooms that belong to no account any more, with the time of their end. The sweep deletes their rows.
create table ended_rooms (
  room text collate "C" primary key,
  account text collate "C" not null,
  since bigint not null
);
create index ended_rooms_by_time on ended_rooms (since);
create index ended_rooms_by_account on ended_rooms (account);
