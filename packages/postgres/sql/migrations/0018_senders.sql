-- Who the e-mails of an organization or of one of its programs come from, and the keys that sign them.

-- Without program_id it is the organization's own, which a program's own goes before. Nothing is sent for it before live_since.
-- Without bounce_domain, bounces come back to the deployment's.
create table if not exists senders (
  organization_id text collate "C" not null references organizations,
  id text collate "C" not null,
  program_id text collate "C",
  from_name text not null,
  from_address text not null,
  reply_to text,
  dkim_domain text not null,
  bounce_domain text,
  live_since timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  primary key (organization_id, id),
  foreign key (organization_id, program_id) references programs
);
create unique index if not exists senders_of_program on senders (organization_id, coalesce(program_id, ''));

-- A key signs from signs_from on, and is pending before; the one that follows it sets signs_until.
-- public_key is in SPKI, in base64, as the DKIM record holds it. The private key is encrypted as signing secrets are.
create table if not exists dkim_keys (
  organization_id text collate "C" not null,
  id text collate "C" not null,
  sender_id text collate "C" not null,
  selector text not null,
  public_key text not null,
  ciphertext bytea not null,
  created_at timestamptz not null default clock_timestamp(),
  signs_from timestamptz,
  signs_until timestamptz,
  primary key (organization_id, id),
  foreign key (organization_id, sender_id) references senders on delete cascade
);
create unique index if not exists dkim_keys_of_sender on dkim_keys (organization_id, sender_id, selector);
