-- A resend: the failed messages of an account that somebody sends again in the console, and its progress.

create table resends (
  account text collate "C" primary key,
  claimed_until bigint not null,
  body text not null
);
