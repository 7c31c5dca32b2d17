import { COMPLAINT_THRESHOLDS, MIN_COMPLAINTS } from "@outreach/domain/campaigns/Campaign"
import type { SqlClient } from "effect/sql"

/**
 * Creates the query of the campaigns with complaints in the last seven days that have reached the lower threshold. Columns:
 * organization_id, campaign_id, sent, complained, and is_high (the upper threshold is reached). The same rule as `complaintLevel` of the domain.
 */
export const complainedCampaigns = (sql: SqlClient.SqlClient) => sql`
  select organization_id, campaign_id, sent::int, complained::int, complained::float8 / sent >= ${COMPLAINT_THRESHOLDS.upper}::float8 as is_high
  from (
    select distinct organization_id, campaign_id from complaints where reported_at > statement_timestamp() - interval '7 days'
  ) complaint
  cross join lateral campaign_totals(organization_id, campaign_id)
  where sent > 0 and complained >= ${MIN_COMPLAINTS}::int and complained::float8 / sent >= ${COMPLAINT_THRESHOLDS.lower}::float8`
