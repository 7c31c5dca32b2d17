import { Deployment } from "@outreach/domain/Deployment"
import { type CalendarDate, DigestRepository } from "@outreach/domain/digest/Digest"
import { Effect } from "effect"
import type { Handler, HandlerInput } from "../http/Handlers.ts"
import { invalidParameter } from "../http/RequestError.ts"
import { programSummary } from "./recipientRecord.ts"

/** Returns the digest of a date, oldest program first. */
export const getDigest: Handler<"getDigest"> = Effect.fnUntraced(function* ({
  caller: { organizationId },
  query: { date },
}: HandlerInput<"getDigest">) {
  const { livemode } = yield* Deployment
  const digests = yield* DigestRepository
  const records = yield* Effect.mapError(digests.read(organizationId, date as CalendarDate), () => NOT_YET)
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

const NOT_YET = invalidParameter("date", "must not be after today (UTC)")
