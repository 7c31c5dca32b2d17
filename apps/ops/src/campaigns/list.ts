import { CampaignReader } from "@outreach/backoffice/campaigns/CampaignReader"
import { CAMPAIGN_STATUSES } from "@outreach/domain/campaigns/Campaign"
import { CampaignId, ProgramId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { reading } from "../audit/Access.ts"
import { limit, organization } from "../inputs/commonFlags.ts"
import { parsedFlag } from "../inputs/parsedInput.ts"
import { pickDefined } from "../inputs/pickDefined.ts"
import { printPage } from "../output/Output.ts"

/** `ops campaigns list` */
export const list = reading(
  "list",
  {
    organization: organization.pipe(Flag.optional),
    program: parsedFlag("program", ProgramId, "Only those of this program, pgm_…").pipe(Flag.optional),
    status: Flag.Literals("status", CAMPAIGN_STATUSES).pipe(
      Flag.withDescription("Only those in this status"),
      Flag.optional,
    ),
    kind: Flag.Literals("kind", ["traffic", "survey"]).pipe(
      Flag.withDescription("Only those of this kind"),
      Flag.optional,
    ),
    text: Flag.String("text").pipe(
      Flag.withDescription("Only those with this in their name; case does not matter"),
      Flag.optional,
    ),
    before: parsedFlag("before", CampaignId, "Only those older than this one, cmp_…").pipe(Flag.optional),
    limit,
  },
  Effect.fn("ops.campaigns.list")(function* ({ organization, program, status, kind, text, before, limit }) {
    const filter = pickDefined({ organizationId: organization, programId: program, status, kind, text, before })
    const rows = yield* (yield* CampaignReader).list(filter, limit + 1)
    const counted = rows.map((row) => ({ ...row, sent: row.totals.sent, recipients: row.totals.recipients }))
    yield* printPage(counted, limit, [
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
    ])
  }),
).pipe(Command.withDescription("List campaigns, newest first, with their counts; of one organization or of all"))
