import { CampaignReader } from "@outreach/backoffice/campaigns/CampaignReader"
import { CAMPAIGN_STATUSES } from "@outreach/domain/campaigns/Campaign"
import { CampaignId, ProgramId } from "@outreach/domain/Identifier"
import { reading } from "../Declaration.ts"
import { limit, organizationId } from "../inputs/filters.ts"
import { choice, flag, optional, text } from "../inputs/Input.ts"

/** `ops campaigns list` */
export const list = reading({
  about: "List campaigns, newest first, with their counts; of one organization or of all",
  input: {
    organizationId: optional(organizationId),
    programId: optional(flag(ProgramId, "Only those of this program, pgm_…")),
    status: optional(choice(CAMPAIGN_STATUSES, "Only those in this status")),
    kind: optional(choice(["traffic", "survey"], "Only those of this kind")),
    text: optional(text("Only those with this in their name; case does not matter")),
    before: optional(flag(CampaignId, "Only those older than this one, cmp_…")),
    limit,
  },
  *run({ limit, ...filter }) {
    const rows = yield* CampaignReader.use(({ list }) => list(filter, limit + 1))
    return rows.map((row) => ({ ...row, sent: row.totals.sent, recipients: row.totals.recipients }))
  },
  columns: [
    "id",
    "programId",
    "name",
    "kind",
    "status",
    "recipients",
    "sent",
    "windowStart",
    "windowEnd",
    "followUpOf",
  ],
})
