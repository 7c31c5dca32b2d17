-- Returns the statements that lock a partitioned table and the tables of its foreign keys.
-- Creating a partition's foreign key locks the referenced table weakly, dropping it locks it fully. A transaction that has read that
-- table and is about to write it would be ended by a deadlock, so it is locked fully from the start.
create or replace function partition_locks(parent text) returns text language sql stable as $$
  select string_agg(format('lock table %s in access exclusive mode', locked), '; ' order by place, locked::text) from (
    select to_regclass(parent) as locked, 1 as place
    union select confrelid::regclass, 2 from pg_constraint where conrelid = to_regclass(parent) and contype = 'f'
  ) tables
$$;
