-- Returns the counts of a campaign: the worker's sums, and the changes that aren't summed yet.
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
  from (
    select recipients, published, withdrawn, sent, bounced, answered, queued, deferred, unknown, quarantined, opened, clicked,
      unsuspected_opened, unsuspected_clicked, accounts, learners, completers, refused_later, complained, unsubscribed
    from campaign_counts where organization_id = organization and campaign_id = campaign
    union all
    select recipients, published, withdrawn, sent, bounced, answered, queued, deferred, unknown, quarantined, opened, clicked,
      unsuspected_opened, unsuspected_clicked, accounts, learners, completers, refused_later, complained, unsubscribed
    from campaign_count_changes where organization_id = organization and campaign_id = campaign
  ) each
$$;
