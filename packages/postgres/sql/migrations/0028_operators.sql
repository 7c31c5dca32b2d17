-- Who may use the console: docs/decisions/0058-a-sign-in-link-is-used-by-a-post.md.
create table operators (
  id text collate "C" primary key,
  name text not null,
  role text not null check (role in ('viewer', 'operator', 'admin')),
  -- An operator of one organization sees and changes nothing of any other.
  organization_id text collate "C" references organizations,
  created_at timestamptz not null default clock_timestamp(),
  removed_at timestamptz
);
create unique index operators_by_name on operators (name) where removed_at is null;

-- Of the tokens only SHA-256 hashes are stored.
create table sign_in_links (
  hash bytea primary key,
  operator_id text collate "C" not null references operators,
  -- Whether the first use is the last.
  once boolean not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  used_at timestamptz
);
create index sign_in_links_of_operator on sign_in_links (operator_id);

create table operator_sessions (
  hash bytea primary key,
  operator_id text collate "C" not null references operators,
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index operator_sessions_of_operator on operator_sessions (operator_id);
