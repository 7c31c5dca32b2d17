-- Since when an endpoint's address has been called, or called again: what was in flight before does not count against its bound.
alter table webhook_endpoints add column if not exists address_since timestamptz not null default clock_timestamp();
