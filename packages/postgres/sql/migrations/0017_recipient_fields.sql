-- What templates name of each recipient: docs/decisions/0049-a-recipients-fields-stand-apart.md.
-- No foreign key leads to a table of the last release: to add it would lock that table against writers.

-- Apart from recipients, whose row is written again by each outcome. A row is written at the import, and read when its message is sent.
create table recipient_fields (
  organization_id text collate "C" not null,
  recipient_id text collate "C" not null,
  fields jsonb not null,
  primary key (organization_id, recipient_id)
);

-- The fields that a campaign's templates may name.
alter table campaigns add column if not exists fields text[] not null default '{}';
