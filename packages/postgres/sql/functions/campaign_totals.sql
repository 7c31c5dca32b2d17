-- Returns the counts of a campaign, with what the worker has not added yet.
create or replace function campaign_totals(organization text, campaign text) returns table (
  recipients bigint, published bigint, withdrawn bigint, sent bigint, bounced bigint, answered bigint, queued bigint,
  deferred bigint, unknown bigint, quarantined bigint, opened bigint, clicked bigint, unsuspected_opened bigint, unsuspected_clicked bigint,
  accounts bigint, learners bigint, completers bigint
) language sql stable as $$
  select sum(each.recipients), sum(each.published), sum(each.withdrawn), sum(each.sent),
    sum(each.bounced), sum(each.answered), sum(each.queued), sum(each.deferred), sum(each.unknown), sum(each.quarantined),
    sum(each.opened), sum(each.clicked), sum(each.unsuspected_opened), sum(each.unsuspected_clicked), sum(each.accounts),
    sum(each.learners), sum(each.completers)
  from (
    select kept.recipients, kept.published, kept.withdrawn, kept.sent, kept.bounced, kept.answered, kept.queued,
      kept.deferred, kept.unknown, kept.quarantined, kept.opened, kept.clicked, kept.unsuspected_opened, kept.unsuspected_clicked,
      kept.accounts, kept.learners, kept.completers
    from campaign_counts kept where kept.organization_id = organization and kept.campaign_id = campaign
    union all
    select change.recipients, change.published, change.withdrawn, change.sent, change.bounced, change.answered, change.queued,
      change.deferred, change.unknown, change.quarantined, change.opened, change.clicked, change.unsuspected_opened,
      change.unsuspected_clicked, change.accounts, change.learners, change.completers
    from campaign_count_changes change where change.organization_id = organization and change.campaign_id = campaign
  ) each
$$;
