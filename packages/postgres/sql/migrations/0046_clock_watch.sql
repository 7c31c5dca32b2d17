-- What is believed of the database's clock, and what stays whatever a process asks for: docs/decisions/0081-what-destroys-asks-for-a-plausible-time.md.
create table clock_watch (
  believed_at timestamptz not null,
  -- From when until when, by its own readings, the clock has gone on steadily without being believed.
  steady_from timestamptz,
  steady_to timestamptz,
  doubt text,
  doubted_at timestamptz
);
create unique index clock_watch_row on clock_watch ((true));
insert into clock_watch (believed_at) select coalesce(max(last), clock_timestamp()) from organization_clock;

-- The times that a clock showed which was not believed. Rows that bear them are not dropped for their age.
create table clock_faults (
  first_at timestamptz primary key,
  last_at timestamptz not null check (last_at >= first_at)
);

-- Days of delivered and hits, and months of the others, that no process can have dropped, and the day of the last drop in UTC.
create table retention_limits (
  parent text primary key,
  min_keep integer not null check (min_keep > 0),
  dropped_on date
);
insert into retention_limits (parent, min_keep) values ('delivered', 7), ('hits', 7), ('events', 1), ('inbox', 1);
