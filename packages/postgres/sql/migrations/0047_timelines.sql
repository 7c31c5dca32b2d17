-- In a transaction of its own: it locks the clocks of all organizations, on which every stamp waits.

-- The timelines on which this database was written, each with the mark of the server that began it.
-- Two servers that were promoted to one number have other marks: docs/decisions/0040-the-first-stamp-on-a-new-timeline-is-fenced.md.
create table timelines (
  timeline text collate "C" primary key,
  mark text not null
);

-- The stamp with which a clock was last fenced. Stamps count up from it until the server's clock has passed it.
alter table organization_clock add column fenced_at timestamptz;

-- This server is known by its mark from now on, so that no clock is fenced and no worker waits.
perform note_timeline();
update organization_clock set identity = current_identity() where current_identity() like identity || '/%';
update database_identity set identity = current_identity() where current_identity() like identity || '/%';
