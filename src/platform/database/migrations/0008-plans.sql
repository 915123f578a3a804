-- What is to happen to payments and requests to come. `position` is the order in which plans are looked at.

create table plans (
  plan_id text collate "C" primary key,
  account text collate "C" not null,
  position integer not null,
  seen integer not null,
  acted integer not null,
  body text not null,
  unique (account, position)
);
