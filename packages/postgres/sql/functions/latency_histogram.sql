-- Adds latencies in milliseconds to the buckets of LATENCY_BOUNDS_MS (packages/domain/src/deliveries/latencyBuckets.ts).
--
-- A loop costs less than a statement, which would be planned in each calling statement.
create or replace function latency_histogram(latencies integer[], counts integer[] default null) returns integer[] language plpgsql immutable as $$
declare
  latency integer;
  bucket integer;
begin
  counts := coalesce(counts, array_fill(0, '{20}'));
  foreach latency in array coalesce(latencies, '{}') loop
    continue when latency is null;
    bucket := 1 + width_bucket(latency, '{2,5,10,20,35,50,75,100,150,200,300,500,750,1000,1500,2000,3000,5000,10000}'::int[]);
    counts[bucket] := counts[bucket] + 1;
  end loop;
  return counts;
end
$$;
