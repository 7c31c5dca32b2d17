-- Returns the ids of the secrets that sign now, newest first, joined by commas.
-- Null means that there is none, and that nothing may be sent: webhooks are never unsigned.
create or replace function active_secrets(organization text, max_rows integer) returns text language sql volatile as $$
  select string_agg(id, ',' order by id desc) from (
    select id from signing_secrets
    where organization_id = organization and (expires_at is null or expires_at > clock_timestamp())
    order by id desc limit max_rows
  ) active
$$;
