-- Reports whether a clinician has clicked on an e-mail of the campaign that a follow-up follows, or of one that this follows in turn.
-- A click of which a bot is suspected is not one of the clinician's.
create or replace function clicked_earlier(organization text, follow_up text, clinician text) returns boolean language sql stable as $$
  with recursive followed as (
    select first_id from follow_ups where organization_id = organization and campaign_id = follow_up
    union all
    select earlier.first_id from followed join follow_ups earlier on earlier.organization_id = organization and campaign_id = followed.first_id
  )
  select exists (
    select from followed
    join recipient_keys key on key.organization_id = organization and key.campaign_id = first_id and npi = clinician
    join recipients recipient on recipient.organization_id = organization and recipient.id = key.recipient_id
    where unsuspected_clicked_on is not null
  )
$$;
