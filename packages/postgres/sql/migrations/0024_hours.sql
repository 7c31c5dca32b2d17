-- The hours of a recipient's local day in which a campaign's messages go out: docs/decisions/0053-hours-are-those-of-the-recipient.md.
-- They are two at least, because two time zones of a state are an hour apart.
alter table campaigns add column if not exists hours_from smallint, add column if not exists hours_to smallint
  constraint campaigns_hours_check
  check (num_nulls(hours_from, hours_to) <> 1 and hours_from >= 0 and hours_from + 2 <= hours_to and hours_to <= 24);

-- The time zones of which the recipient's is one; null where the fields do not say.
alter table recipient_fields add column if not exists time_zones text[];
