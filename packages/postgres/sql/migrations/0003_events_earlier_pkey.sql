-- The primary key that 0004 gives the events of today's table: a partition's key holds what the table is partitioned by.
create unique index concurrently events_earlier_pkey on events (organization_id, id, emitted_at);
