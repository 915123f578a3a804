-- The failed messages of an account that somebody sends again in the console, one after the other, and how far that is.

create table resends (
  account text collate "C" primary key,
  claimed_until bigint not null,
  body text not null
);
