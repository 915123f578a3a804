-- Keeps the payments of each day in a separate table of PostgreSQL. Run it with all instances stopped.
--
-- Then, every day, create the partition of the day after the last one, and drop the one of nine days ago. On 28 September
-- 2026:
--
--   create table payments_20261012 partition of payments
--     for values from (farthing_midnight('2026-10-12')) to (farthing_midnight('2026-10-13'));
--   drop table payments_20260919;

-- The first nine characters of identifiers that begin at a UTC midnight.
create or replace function farthing_midnight(day date) returns text language sql immutable as $$
  select string_agg(
    substr('0123456789abcdefghijklmnopqrstuv', ((eighths >> (5 * (8 - place))) & 31)::int + 1, 1),
    '' order by place)
  from (select extract(epoch from day)::bigint * 125 as eighths) as time, generate_series(0, 8) as place
$$;

create table payments_by_day (like payments including all) partition by range (payment_id);

do $$
declare day date;
begin
  for day in select generate_series(current_date - 8, current_date + 14, '1 day')::date loop
    execute format('create table payments_%s partition of payments_by_day for values from (%L) to (%L)',
      to_char(day, 'YYYYMMDD'), farthing_midnight(day), farthing_midnight(day + 1));
  end loop;
end $$;

insert into payments_by_day select * from payments where payment_id >= farthing_midnight(current_date - 8);
drop table payments;
alter table payments_by_day rename to payments;
