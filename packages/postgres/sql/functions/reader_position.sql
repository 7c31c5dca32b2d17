-- Returns an endpoint's position in its log: its newest row, the only one that isn't deleted.
create or replace function reader_position(endpoint text)
returns table (begun_at timestamptz, begun_id text, open text[], intended_at timestamptz) language sql stable as $$
  select begun_at, begun_id, open, intended_at from reader_positions where endpoint_id = endpoint order by generation desc limit 1
$$;
