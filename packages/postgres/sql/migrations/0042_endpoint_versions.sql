-- How often an endpoint, or a secret that signs for it, was changed: docs/decisions/0065-a-call-uses-what-is-current-when-it-begins.md.
alter table webhook_endpoints add column if not exists version integer not null default 1;
create trigger raise_version before update on webhook_endpoints for each row
  when (old.* is distinct from new.*) execute function raise_version();
create trigger raise_endpoint_versions_insert after insert on signing_secrets for each row execute function raise_endpoint_versions();
create trigger raise_endpoint_versions_update after update of expires_at on signing_secrets for each row
  when (old.expires_at is distinct from new.expires_at) execute function raise_endpoint_versions();
