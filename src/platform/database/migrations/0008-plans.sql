-- Plans for future payments and requests. `position` is the order in which the service looks at them.

create table plans (
  plan_id text collate "C" primary key,
  account text collate "C" not null,
  position integer not null,
  seen integer not null,
  acted integer not null,
  body text not null,
  unique (account, position)
);
