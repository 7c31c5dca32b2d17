-- Prepares each organization to be moved to another server by logical replication: docs/cells.md.
--
-- A publication selects the rows of one organization by organization_id, which therefore belongs to the replica identity of each table.
-- Where the primary key lacks it, a unique index takes the place of an index that was there before, so that no table has one more.

-- All locks or none, each within a moment, as in 0004. These tables are small: a row for each key, secret and endpoint.
declare
  patience constant text := current_setting('lock_timeout');
begin
  for attempt in 1..200 loop
    begin
      perform set_config('lock_timeout', '300ms', true);
      lock table organizations, webhook_endpoints, api_keys, signing_secrets, endpoint_readers, reader_positions in access exclusive mode;
      -- Its partitions do not change.
      lock table only inbox in access exclusive mode;
      exit;
    exception when lock_not_available then
      if attempt = 200 then raise; end if;
      perform pg_sleep(0.2);
    end;
  end loop;
  perform set_config('lock_timeout', patience, true);
end;

drop index api_keys_of_organization;
create unique index api_keys_of_organization on api_keys (organization_id, id);
alter table api_keys replica identity using index api_keys_of_organization;

drop index signing_secrets_of_organization;
create unique index signing_secrets_of_organization on signing_secrets (organization_id, id);
alter table signing_secrets replica identity using index signing_secrets_of_organization;

drop index webhook_endpoints_of_organization;
create unique index webhook_endpoints_of_organization on webhook_endpoints (organization_id, id);
alter table webhook_endpoints replica identity using index webhook_endpoints_of_organization;

drop index endpoint_readers_of_organization;
create unique index endpoint_readers_of_organization on endpoint_readers (organization_id, endpoint_id);
alter table endpoint_readers replica identity using index endpoint_readers_of_organization;

-- A process of the last release inserts a position without its organization, which the trigger fills in.
alter table reader_positions add column if not exists organization_id text collate "C";
update reader_positions position set organization_id = endpoint.organization_id
from webhook_endpoints endpoint where endpoint.id = position.endpoint_id;
alter table reader_positions alter column organization_id set not null;
alter table reader_positions drop constraint reader_positions_pkey;
alter table reader_positions add primary key (endpoint_id, generation, organization_id);
create trigger fill_organization before insert on reader_positions for each row
  when (new.organization_id is null) execute function fill_organization();

-- The table itself holds no rows, and cannot have the key of its partitions. The identity of each partition is its own primary key,
-- so this writes nothing more to the WAL; it lets a subscriber update the rows.
alter table only inbox replica identity full;

-- While an organization is frozen, nothing new begins for it here: it is moving to another server, or has moved.
alter table organizations add column if not exists frozen_at timestamptz;
