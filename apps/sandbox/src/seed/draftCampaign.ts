import { createCampaign } from "@outreach/domain/campaigns/Campaigns"
import type { ProgramId } from "@outreach/domain/Identifier"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { Clock, Effect } from "effect"

const WEEK_MS = 7 * 86_400_000

const HTML = `<p>Dear colleague,</p>
<p>You are invited to <strong>{{ program_name }}</strong>.</p>
<p><a href="https://partner.test/{{ token }}">Take part</a></p>
`

/** Creates a draft campaign without recipients, whose window is open for a week. */
export const draftCampaign = Effect.fnUntraced(function* (programId: ProgramId) {
  const now = yield* Clock.currentTimeMillis
  const { id } = yield* createCampaign({
    programId,
    name: "Sandbox invitation",
    kind: "traffic",
    subject: "An invitation to {{ program_name }}",
    html: HTML,
    windowStart: fromUnixMillis(now),
    windowEnd: fromUnixMillis(now + WEEK_MS),
  })
  return id
})
