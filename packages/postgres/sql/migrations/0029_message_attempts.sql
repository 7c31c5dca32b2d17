-- What mail servers replied: docs/decisions/0061-a-message-keeps-its-attempts.md.
-- No foreign key leads to a table of the last release: to add it would lock that table against writers.

-- Of attempts with the same number and outcome the last is kept. Number 0 is what a report told after the message was sent.
create table if not exists message_attempts (
  organization_id text collate "C" not null,
  recipient_id text collate "C" not null,
  number integer not null,
  outcome text not null check (outcome in ('accepted', 'bounced', 'deferred', 'refused', 'unreachable', 'unknown')),
  times integer not null default 1,
  first_at timestamptz not null default statement_timestamp(),
  last_at timestamptz not null default statement_timestamp(),
  reply text,
  primary key (organization_id, recipient_id, number, outcome)
);

create index if not exists message_attempts_by_age on message_attempts (last_at);
