-- Reports whether the completers of a program have reached its target. The newest row of digest_funnel has the totals.
create or replace function quota_reached(organization text, program text) returns boolean language sql stable as $$
  select coalesce((
    select completer_reached_at is not null from digest_funnel
    where organization_id = organization and program_id = program order by date desc limit 1
  ), false)
$$;
