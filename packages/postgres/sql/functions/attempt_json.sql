-- Builds an attempt for the row of a finished delivery.
create or replace function attempt_json(
  number integer, started_at timestamptz, latency_ms integer, status integer, outcome text, response text
)
returns jsonb language sql stable as $$
  select jsonb_build_object('number', number,
    'startedAt', to_char(started_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    'latencyMs', latency_ms, 'status', status, 'outcome', outcome, 'response', response)
$$;
