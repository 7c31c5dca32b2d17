-- Finds the recipients of a campaign with one of these NPIs or lower-case e-mail addresses.
-- This form without scans and sorts walks the index in order, regardless of statistics: an import starts with an
-- empty table, for which PostgreSQL would plan a full scan.
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
