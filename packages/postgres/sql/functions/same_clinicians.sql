-- Finds who of a campaign has one of these NPIs or e-mail addresses; the addresses are in lower case.
-- "The first that is not before", without scans and sorts, walks the index of this order, whatever the statistics say: an import begins on an
-- empty table, for which PostgreSQL would plan to read it from end to end.
create or replace function same_clinicians(organization text, campaign text, npis text[], emails text[])
  returns table (npi text, email text) language sql stable set enable_seqscan = off set enable_sort = off as $$
  select twin.npi, twin.email
  from unnest(npis) as given (npi)
  cross join lateral (
    select key.npi, key.email from recipient_keys key
    where organization_id = organization and campaign_id = campaign and key.npi >= given.npi
    order by key.npi limit 1) twin
  where twin.npi = given.npi
  union
  select twin.npi, twin.email
  from unnest(emails) as given (email)
  cross join lateral (
    select key.npi, key.email from recipient_keys key
    where organization_id = organization and campaign_id = campaign and key.email >= given.email
    order by key.email limit 1) twin
  where twin.email = given.email
$$;
