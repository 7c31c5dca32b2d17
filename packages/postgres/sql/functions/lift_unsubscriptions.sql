-- Removes the suppressions of at most max_rows revoked unsubscriptions; returns the number of these.
-- Suppressions by other causes stay, and so do those of unsubscriptions by the links of other messages.
-- It runs as its owner: the worker may remove no other suppression.
create or replace function lift_unsubscriptions(max_rows integer) returns integer
language sql security definer set search_path = public, pg_temp as $$
  with chosen as materialized (
    select organization_id, recipient_id from unsubscriptions
    where revoked_at is not null and lifted_at is null
    order by revoked_at limit max_rows for update skip locked
  ), lifted as (
    -- Clears the request for the organization, so that the next one may be for the program only.
    update unsubscriptions unsubscription set lifted_at = clock_timestamp(), suppressed_at = coalesce(suppressed_at, clock_timestamp()),
      from_organization = false
    from chosen where unsubscription.organization_id = chosen.organization_id and unsubscription.recipient_id = chosen.recipient_id
    returning unsubscription.organization_id, unsubscription.recipient_id
  ), key as materialized (
    select lifted.organization_id, recipient_id, program_id, each.kind, each.value
    from lifted join recipients on recipients.organization_id = lifted.organization_id and recipients.id = recipient_id
    cross join lateral (values ('npi', npi), ('email', lower(email))) as each (kind, value)
  ), standing as materialized (
    -- The remaining requests by links of other messages to the same clinician.
    select key.organization_id, key.kind, key.value,
      unnest(case when from_organization then array['', recipient.program_id] else array[recipient.program_id] end) as program_id
    from key
    join unsubscriptions other on other.organization_id = key.organization_id and revoked_at is null
    join recipients recipient on recipient.organization_id = other.organization_id and recipient.id = other.recipient_id
      and key.value = case key.kind when 'npi' then recipient.npi else lower(recipient.email) end
  ), removed as (
    delete from suppressions suppression using key
    where suppression.organization_id = key.organization_id and suppression.kind = key.kind and suppression.value = key.value
      and suppression.program_id in ('', key.program_id) and by_unsubscription
      and (key.organization_id, key.kind, key.value, suppression.program_id) not in (
        select organization_id, kind, value, program_id from standing)
  )
  select count(*)::integer from lifted;
$$;
