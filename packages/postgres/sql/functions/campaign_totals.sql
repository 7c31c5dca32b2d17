-- Returns the counts of a campaign.
create or replace function campaign_totals(organization text, campaign text) returns table (
  recipients bigint, published bigint, withdrawn bigint, sent bigint, bounced bigint, answered bigint, queued bigint, deferred bigint,
  unknown bigint, quarantined bigint, opened bigint, clicked bigint, unsuspected_opened bigint, unsuspected_clicked bigint,
  accounts bigint, learners bigint, completers bigint, refused_later bigint, complained bigint, unsubscribed bigint
) language sql stable as $$
  select coalesce(sum(each.recipients), 0), coalesce(sum(each.published), 0), coalesce(sum(each.withdrawn), 0), coalesce(sum(each.sent), 0),
    coalesce(sum(each.bounced), 0), coalesce(sum(each.answered), 0), coalesce(sum(each.queued), 0), coalesce(sum(each.deferred), 0),
    coalesce(sum(each.unknown), 0), coalesce(sum(each.quarantined), 0), coalesce(sum(each.opened), 0), coalesce(sum(each.clicked), 0),
    coalesce(sum(each.unsuspected_opened), 0), coalesce(sum(each.unsuspected_clicked), 0), coalesce(sum(each.accounts), 0), coalesce(sum(each.learners), 0),
    coalesce(sum(each.completers), 0), coalesce(sum(each.refused_later), 0), coalesce(sum(each.complained), 0), coalesce(sum(each.unsubscribed), 0)
  from counts_of_campaign(organization, campaign) each
$$;
