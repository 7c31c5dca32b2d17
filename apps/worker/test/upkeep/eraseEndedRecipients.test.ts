import { expect } from "@effect/vitest"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect, Logger, References, Schedule } from "effect"
import { eraseEndedRecipients } from "../../src/upkeep/eraseEndedRecipients.ts"

const { test } = testsOnDatabase()

/** Seeds a campaign whose last change and end of window were a number of months ago. */
const seed = Effect.fnUntraced(function* (status: string, months: number, windowMonths = months, recipients = 1) {
  const { campaign } = yield* seedCampaign({ recipients })
  yield* sql`
    update campaigns set status = ${status}, updated_at = clock_timestamp() - make_interval(months => ${months}::int),
      window_start = clock_timestamp() - make_interval(months => ${windowMonths}::int, days => 2),
      window_end = clock_timestamp() - make_interval(months => ${windowMonths}::int, days => 1)
    where id = ${campaign.id}`
  return campaign.id as string
})

test("several workers erase the recipients of campaigns past their retention exactly once, and no other recipients", function* () {
  // The first one in processing order.
  const kept = [
    yield* seed("completed", 11, 13),
    yield* seed("cancelled", 11, 13),
    yield* seed("draft", 11, 13),
    yield* seed("paused", 13, 11),
  ]
  const due = [
    // More than one transaction erases.
    yield* seed("completed", 13, 13, 250),
    yield* seed("cancelled", 12),
    yield* seed("draft", 13),
    yield* seed("paused", 13),
  ]
  const erased: Record<string, number> = {}
  const logger = Logger.make(({ message, fiber }) => {
    expect(String(message)).toBe("recipients past their retention erased")
    const { campaignId, months, recipients } = fiber.getRef(References.CurrentLogAnnotations) as Record<string, never>
    expect(months).toBe(12)
    erased[campaignId!] = (erased[campaignId!] ?? 0) + recipients!
  })
  const unerased = sql<{ id: string }>`
    select distinct campaign_id as id from recipients where erased_at is null order by campaign_id`
  const workers = Effect.all([eraseEndedRecipients(12), eraseEndedRecipients(12)], { concurrency: "unbounded" })
  const left = yield* Effect.raceFirst(
    Effect.repeat(unerased, { until: ({ length }) => length === kept.length, schedule: Schedule.spaced("20 millis") }),
    workers.pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(References.MinimumLogLevel, "Info")),
  )
  expect(left.map(({ id }) => id)).toEqual(kept.sort())
  expect(erased).toEqual(Object.fromEntries(due.map((id, i) => [id, i === 0 ? 250 : 1])))
})
