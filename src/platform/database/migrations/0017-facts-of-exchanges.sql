-- The facts of each exchange: the check reads these, and no bodies.

alter table exchanges add column facts text;
