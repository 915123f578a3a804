-- The check reads these of each exchange, and no bodies.

alter table exchanges add column facts text;
