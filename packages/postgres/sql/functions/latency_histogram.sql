-- Counts latencies in milliseconds by the buckets of LATENCY_BOUNDS_MS (packages/domain/src/deliveries/latencyBuckets.ts).
create or replace function latency_histogram(latencies integer[]) returns integer[] language sql immutable as $$
  select array(
    select count(latency)::int from generate_series(0, 19) as bucket
    left join unnest(latencies) as latency on bucket = width_bucket(
      latency, '{2,5,10,20,35,50,75,100,150,200,300,500,750,1000,1500,2000,3000,5000,10000}'::int[])
    group by bucket order by bucket)
$$;
