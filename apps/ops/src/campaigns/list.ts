import { CAMPAIGN_STATUSES } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { ProgramId } from "@outreach/domain/Identifier"
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
    limit,
  },
  Effect.fn("ops.campaigns.list")(function* ({ organization, program, status, limit }) {
    const filter = pickDefined({ organizationId: organization, programId: program, status })
    const rows = yield* (yield* CampaignRepository).list(filter, limit + 1)
    yield* printPage(rows, limit, [
      "id",
      "programId",
      "name",
      "kind",
      "status",
      "windowStart",
      "windowEnd",
      "followUpOf",
    ])
  }),
).pipe(Command.withDescription("List campaigns, newest first; of one organization or of all"))
