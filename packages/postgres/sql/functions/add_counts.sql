-- Adds two latency histograms, either of which may be empty. PostgreSQL inlines a single expression; a subquery would need a call.
create or replace function add_counts(counts integer[], others integer[]) returns integer[] language sql immutable as $$
  select array[
    coalesce(counts[1], 0) + coalesce(others[1], 0), coalesce(counts[2], 0) + coalesce(others[2], 0),
    coalesce(counts[3], 0) + coalesce(others[3], 0), coalesce(counts[4], 0) + coalesce(others[4], 0),
    coalesce(counts[5], 0) + coalesce(others[5], 0), coalesce(counts[6], 0) + coalesce(others[6], 0),
    coalesce(counts[7], 0) + coalesce(others[7], 0), coalesce(counts[8], 0) + coalesce(others[8], 0),
    coalesce(counts[9], 0) + coalesce(others[9], 0), coalesce(counts[10], 0) + coalesce(others[10], 0),
    coalesce(counts[11], 0) + coalesce(others[11], 0), coalesce(counts[12], 0) + coalesce(others[12], 0),
    coalesce(counts[13], 0) + coalesce(others[13], 0), coalesce(counts[14], 0) + coalesce(others[14], 0),
    coalesce(counts[15], 0) + coalesce(others[15], 0), coalesce(counts[16], 0) + coalesce(others[16], 0),
    coalesce(counts[17], 0) + coalesce(others[17], 0), coalesce(counts[18], 0) + coalesce(others[18], 0),
    coalesce(counts[19], 0) + coalesce(others[19], 0), coalesce(counts[20], 0) + coalesce(others[20], 0)
  ]
$$;
