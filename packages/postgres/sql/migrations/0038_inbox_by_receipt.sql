-- What each organization sent, by the time of its receipt: the console lists what was applied. An index of the keys, because one on a partitioned
-- table cannot be built while it is written, and because keys never change.
create index concurrently inbox_keys_by_receipt on inbox_keys (organization_id, received_at, event_id);
