-- Derives the id of a delivery from its event and its endpoint: a UUIDv7 (RFC 9562 5.7) with the event's time; the rest is a hash.
create or replace function delivery_id(event_id text, endpoint_id text) returns text language sql immutable as $$
  -- PostgreSQL inlines a single expression. A call would cost thirty times as much.
  select 'dlv_' || substr(event_id, 5, 12) || '7'
    || overlay(substr(encode(sha256((event_id || endpoint_id)::bytea), 'hex'), 1, 18) placing 'b' from 4 for 0)
$$;
