-- The name of a test account belongs to its parent: accounts, keys and ended rooms have it after the parent's.

update ended_rooms
  set account = (select parent || '/' || name from accounts where name = ended_rooms.account)
  where account in (select name from accounts where parent is not null);
update api_keys
  set account = (select parent || '/' || name from accounts where name = api_keys.account)
  where account in (select name from accounts where parent is not null);
update accounts set name = parent || '/' || name where parent is not null;
