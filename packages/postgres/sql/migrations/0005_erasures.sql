-- Clinicians who were erased: keyed hashes that go on suppressing, and what each erasure did.

-- The random key of an organization's hashes, encrypted as signing secrets are; `placeholders` counts the values that stand for erased ones.
create table if not exists erasure_keys (
  organization_id text collate "C" primary key references organizations (id),
  ciphertext bytea not null,
  placeholders bigint not null default 0,
  created_at timestamptz not null default clock_timestamp()
);

create table if not exists erased_clinicians (
  organization_id text collate "C" not null references organizations (id),
  hash bytea not null,
  erased_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, hash)
);

-- `state` holds, encrypted, what an unfinished erasure still has to look for.
create table if not exists erasures (
  organization_id text collate "C" not null references organizations (id),
  id text collate "C" not null,
  subject bytea not null,
  hashes bytea[] not null,
  release text not null,
  counts jsonb not null default '{}',
  state bytea,
  started_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  primary key (organization_id, id),
  check ((state is null) = (finished_at is not null))
);

-- Events whose bodies were erased lately: a worker that read one before may still write what the partner answered.
create table if not exists erased_events (
  organization_id text collate "C" not null references organizations (id),
  event_id text collate "C" not null,
  erased_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, event_id)
);

alter table recipients add column if not exists erased_at timestamptz;
