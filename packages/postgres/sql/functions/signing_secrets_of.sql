-- Returns the active signing secrets of endpoints: their own, and those of their organizations until shared_secrets_until; at most max_rows for each.
-- rank is their order: an endpoint's own first, then the newest. ends_at is null for no end.
create or replace function signing_secrets_of(endpoints text[], max_rows integer)
returns table (endpoint_id text, organization_id text, id text, ciphertext bytea, ends_at timestamptz, rank bigint)
language sql stable as $$
  select endpoint.id, endpoint.organization_id, secret.*
  from webhook_endpoints endpoint cross join lateral (
    select id, ciphertext, ends_at, row_number() over (order by is_own desc, created_at desc, id desc) as rank from (
      select id, ciphertext, expires_at as ends_at, created_at, true as is_own from signing_secrets
      where organization_id = endpoint.organization_id and endpoint_id = endpoint.id
      union all
      select id, ciphertext, least(expires_at, nullif(shared_secrets_until, 'infinity')), created_at, false from signing_secrets
      where organization_id = endpoint.organization_id and endpoint_id is null
    ) known
    where ends_at is null or ends_at > clock_timestamp()
    order by rank limit max_rows
  ) secret
  where endpoint.id = any (endpoints) and removed_at is null
$$;
