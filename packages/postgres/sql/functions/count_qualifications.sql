-- Counts clinicians who came further after a campaign's e-mail was sent to them, in each campaign that sent them one.
create or replace function count_qualifications() returns trigger language plpgsql set enable_seqscan = off as $$
begin
  insert into campaign_count_changes (organization_id, campaign_id, subject, accounts, learners, completers)
  select qualified.organization_id, campaign.id, coalesce(test_subject, ''),
    count(*) filter (where stage = 'account_created'), count(*) filter (where stage = 'learner_qualified'),
    count(*) filter (where stage = 'completer_qualified')
  from new_rows qualified
  join campaigns campaign on campaign.organization_id = qualified.organization_id and campaign.program_id = qualified.program_id
  cross join lateral (
    select test_subject from recipients
    where organization_id = qualified.organization_id and campaign_id = campaign.id and npi = qualified.npi
      and sent_at <= qualified.counted_at limit 1
  ) recipient
  group by qualified.organization_id, campaign.id, test_subject;
  return null;
end
$$;
