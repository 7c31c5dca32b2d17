-- Returns the id of a program's current sender: the program's own, otherwise the organization's.
-- Null if the deployment's default sender is used.
create or replace function sender_of(organization text, program text) returns text language sql stable as $$
  select id from senders
  where organization_id = organization and (program_id is null or program_id = program) and live_since is not null
  order by program_id nulls last limit 1
$$;
