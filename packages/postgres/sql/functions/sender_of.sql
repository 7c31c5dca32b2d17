-- Returns the id of the sender whose name the e-mails of a program bear now: the program's own, or else the organization's.
-- It is null where the deployment sends in its own name.
create or replace function sender_of(organization text, program text) returns text language sql stable as $$
  select id from senders
  where organization_id = organization and (program_id is null or program_id = program) and live_since is not null
  order by program_id nulls last limit 1
$$;
