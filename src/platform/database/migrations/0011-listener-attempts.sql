-- Attempts that wait for a listener or for its answer. `offer` and `answer` are JSON. A row is deleted when the attempt
-- has ended.

create table listener_attempts (
  account text collate "C" not null,
  webhook_id text collate "C" not null,
  attempt_id text collate "C" not null,
  expires bigint not null,
  taken integer not null,
  offer text not null,
  answer text,
  primary key (account, webhook_id, attempt_id)
);
