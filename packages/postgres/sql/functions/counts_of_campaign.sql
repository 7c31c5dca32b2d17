-- Returns the rows to sum for a campaign's counts: the worker's sums, and the changes that aren't summed yet.
create or replace function counts_of_campaign(organization text, campaign text)
returns table (
  hour timestamptz, recipients integer, published integer, withdrawn integer, sent integer, bounced integer,
  answered integer, queued integer, deferred integer, unknown integer, quarantined integer,
  opened integer, clicked integer, unsuspected_opened integer, unsuspected_clicked integer, accounts integer,
  learners integer, completers integer, refused_later integer, complained integer, unsubscribed integer
) language sql stable as $$
  select hour, recipients, published, withdrawn, sent, bounced, answered,
    queued, deferred, unknown, quarantined, opened, clicked,
    unsuspected_opened, unsuspected_clicked, accounts, learners, completers,
    refused_later, complained, unsubscribed
  from campaign_counts where organization_id = organization and campaign_id = campaign
  union all
  select hour, recipients, published, withdrawn, sent, bounced, answered,
    queued, deferred, unknown, quarantined, opened, clicked,
    unsuspected_opened, unsuspected_clicked, accounts, learners, completers,
    refused_later, complained, unsubscribed
  from campaign_count_changes where organization_id = organization and campaign_id = campaign
$$;
