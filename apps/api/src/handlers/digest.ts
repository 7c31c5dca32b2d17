import { Deployment } from "@outreach/domain/Deployment"
import { DigestLedger } from "@outreach/domain/digest/DigestLedger"
import { Effect } from "effect"
import type { Asked, Handler } from "../http/Handlers.ts"
import type { Refusal } from "../http/refuse.ts"
import { programSummary } from "./campaignSummary.ts"

/** Answers a date of every program, oldest program first. */
export const getDigest: Handler<"getDigest"> = Effect.fnUntraced(function* ({
  caller: { organizationId },
  query: { date },
}: Asked<"getDigest">) {
  const { livemode } = yield* Deployment
  const ledger = yield* DigestLedger
  const records = yield* Effect.mapError(ledger.read(organizationId, date), () => NOT_YET)
  const data = records.map(({ program, funnel, outreach, quota }) => ({
    object: "digest_record" as const,
    livemode,
    date,
    program: programSummary({ program }, livemode),
    funnel,
    outreach,
    quota,
  }))
  return { status: 200, headers: {}, body: { object: "digest", livemode, date, data } }
})

const NOT_YET: Refusal = {
  reason: "bad request",
  code: "INVALID_PARAMETER",
  parameter: "date",
  message: "date: must not be after today (UTC)",
}
