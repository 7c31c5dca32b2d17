-- Adds a link to the audit log's chain for a command's start, end or removal, when its transaction commits.
--
-- The links are written one at a time, so a reader of a link can read all earlier ones. `AuditChain` of packages/backoffice writes the same text
-- with its own code to verify it. It runs as its owner, because no other role may write to the chain.
create or replace function chain_audit() returns trigger language plpgsql security definer
set search_path = public, pg_temp as $$
declare
  link audit_chain;
  line text;
begin
  perform pg_advisory_xact_lock(hashtextextended('audit chain', 0));
  select number, hash into link.number, link.previous from audit_chain order by number desc limit 1;
  link.number := coalesce(link.number, 0) + 1;
  if tg_op = 'DELETE' then
    link.kind := 'removed';
    link.command_id := old.id;
    link.removed_at := clock_timestamp();
    link.removed_by := session_user;
    select row_to_json(entry) into line from (
      select link.number, encode(link.previous, 'hex') as previous, link.kind, old.id,
        to_char(link.removed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, link.removed_by as role
    ) entry;
  elsif tg_table_name = 'audit_log' then
    link.kind := 'begun';
    link.command_id := new.id;
    select row_to_json(entry) into line from (
      select link.number, encode(link.previous, 'hex') as previous, link.kind, new.id,
        to_char(new.begun_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, new.role, new.operator, new.os_user, new.host,
        new.command, new.arguments, new.objects, new.organizations, new.submission
    ) entry;
  else
    link.kind := 'ended';
    link.command_id := new.command_id;
    select row_to_json(entry) into line from (
      select link.number, encode(link.previous, 'hex') as previous, link.kind, new.command_id as id,
        to_char(new.ended_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, new.result, new.code
    ) entry;
  end if;
  link.hash := sha256(convert_to(line, 'UTF8'));
  insert into audit_chain select link.*;
  return null;
end
$$;
