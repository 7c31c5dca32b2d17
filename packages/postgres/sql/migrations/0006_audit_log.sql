-- Operators

-- The commands of operators that change something or show personal data: one row when a command begins, and one when it ends.
-- arguments holds the values of harmless arguments, and null for each other argument that was given.
-- organizations holds the ids of the organizations whose things the arguments name.
create table audit_log (
  id text collate "C" primary key default make_id('aud'),
  begun_at timestamptz not null default clock_timestamp(),
  role text not null default session_user,
  operator text,
  os_user text not null,
  host text not null,
  command text not null,
  arguments json not null,
  organizations text[] not null
);

-- A command without a row here is still under way, or was killed.
create table audit_results (
  command_id text collate "C" primary key references audit_log,
  ended_at timestamptz not null default clock_timestamp(),
  result text not null check (result in ('succeeded', 'failed', 'interrupted')),
  code text check ((code is not null) = (result = 'failed'))
);

-- Whoever owns the tables cannot change an entry by mistake either.
create trigger audit_log_is_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();
create trigger audit_results_are_append_only before update or delete or truncate on audit_results
  for each statement execute function refuse_change();

-- The roles that `ops migrate --grant-to` was given. Each migration grants them what the newest schema needs.
create table granted_roles (
  role text collate "C" not null,
  kind text collate "C" not null check (kind in ('api', 'worker', 'operator', 'reader')),
  primary key (role, kind)
);
