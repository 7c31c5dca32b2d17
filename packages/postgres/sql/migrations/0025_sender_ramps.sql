-- How many messages a sender may send on each of its first days: docs/decisions/0054-a-ramp-counts-days-on-which-mail-is-sent.md.

-- A row counts one day of UTC, counted_on, which is the so-many-th of the ramp. The day before it is overwritten.
create table if not exists sender_ramps (
  organization_id text collate "C" not null,
  sender_id text collate "C" not null,
  daily integer[] not null,
  day_number integer not null default 1,
  counted_on date not null default '-infinity',
  sent integer not null default 0,
  primary key (organization_id, sender_id),
  foreign key (organization_id, sender_id) references senders on delete cascade
) with (fillfactor = 50);
