-- The signing secret that verified an inbound event; null where a process of an earlier release received it.
alter table inbox add column if not exists secret_id text collate "C";
