import { describe, expect } from "@effect/vitest"
import { OrganizationId, type RecipientId } from "@outreach/domain/Identifier"
import { clockTest } from "@outreach/testing/effectTest"
import { receiveEvent } from "@outreach/testing/receiveEvent"
import { recordHits } from "@outreach/testing/recordHits"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect, Fiber, Logger, References, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { judgeHits } from "../../src/hits/judgeHits.ts"
import { applyInbox } from "../../src/inbox/applyInbox.ts"
import { processInTurns } from "../../src/loops/processInTurns.ts"

const { test } = testsOnDatabase()

/** Collects the organizations in the failure log. */
const failuresOf = () => {
  const named: unknown[] = []
  const logger = Logger.make(({ fiber }) => {
    named.push(fiber.getRef(References.CurrentLogAnnotations)["organizationId"])
  })
  return { named, layer: Logger.layer([logger]) }
}

/** Makes every write to an organization's recipients fail. */
const breakOrganization = Effect.fnUntraced(function* (id: OrganizationId) {
  yield* sql`
    create or replace function refuse() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$`
  yield* sql`
    create trigger ${sql(`broken_${id}`)} before update on recipients for each row
    when (old.organization_id = ${sql.literal(`'${id}'`)}) execute function refuse()`
})

describe("a loop over organizations", () => {
  test("judges the hits of other organizations when one organization's hits fail, and logs that organization", function* () {
    const [broken, sound] = [yield* seedCampaign({ recipients: 1 }), yield* seedCampaign({ recipients: 1 })]
    for (const { organization } of [broken, sound]) {
      const [recipient] = yield* sql<{ id: RecipientId }>`
        update recipients set sent_at = clock_timestamp() - interval '1 hour' where organization_id = ${organization.id}
        returning id`
      yield* recordHits({ organizationId: organization.id, recipientId: recipient!.id, link: "https://clinic.test/" })
    }
    yield* breakOrganization(broken.organization.id)
    const { named, layer } = failuresOf()
    const waiting = sql`select from hits where organization_id = ${sound.organization.id} and judged_at is null`
    yield* Effect.raceFirst(
      Effect.repeat(waiting, { until: (rows) => rows.length === 0, schedule: Schedule.spaced("20 millis") }),
      Effect.provide(judgeHits, layer),
    )
    expect(new Set(named)).toEqual(new Set([broken.organization.id]))
  })

  test("applies the inbox of other organizations when one fails to withdraw recipients, and logs only that one", function* () {
    const [broken, sound] = [yield* seedCampaign({ recipients: 1 }), yield* seedCampaign({ recipients: 1 })]
    yield* sql`update programs set completer_target = 1 where id = ${broken.program.id}`
    const data = { consumer_program_slug: "heart-failure", npi: npi(7) }
    yield* receiveEvent(broken, "evt_1", "clinician.completer_qualified", data)
    yield* receiveEvent(sound, "evt_1", "clinician.completer_qualified", data)
    yield* breakOrganization(broken.organization.id)
    const { named, layer } = failuresOf()
    const waiting = sql`select from inbox where organization_id = ${sound.organization.id} and applied_at is null`
    yield* Effect.raceFirst(
      Effect.repeat(waiting, { until: (rows) => rows.length === 0, schedule: Schedule.spaced("20 millis") }),
      Effect.provide(applyInbox, layer),
    )
    expect(named).toContain(broken.organization.id)
    expect(named).not.toContain(sound.organization.id)
  })
})

describe("processInTurns", () => {
  clockTest("skips a failing organization for a time that doubles until it succeeds", function* () {
    const bad = OrganizationId.make(`org_${"1".repeat(32)}`)
    const good = OrganizationId.make(`org_${"2".repeat(32)}`)
    const calls: Array<string> = []
    let isBroken = true
    const step = processInTurns("test", Effect.succeed([bad, good]), (id) =>
      Effect.suspend(() => {
        calls.push(id === bad ? "bad" : "good")
        return id === bad && isBroken ? Effect.die(new Error("broken")) : Effect.succeed(1)
      }),
    ).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
    const after = Effect.fnUntraced(function* (ms: number) {
      yield* TestClock.adjust(ms)
      calls.length = 0
      return [yield* step, [...calls]]
    })
    expect(yield* after(0)).toEqual([1, ["bad", "good"]])
    expect(yield* after(499)).toEqual([1, ["good"]])
    expect(yield* after(1)).toEqual([1, ["bad", "good"]])
    expect(yield* after(999)).toEqual([1, ["good"]])
    isBroken = false
    expect(yield* after(1)).toEqual([2, ["bad", "good"]])
    expect(yield* after(0)).toEqual([2, ["bad", "good"]])
  })

  clockTest("is interrupted in the middle of a turn", function* () {
    const fiber = yield* Effect.forkChild(
      processInTurns("test", Effect.succeed([OrganizationId.make(`org_${"1".repeat(32)}`)]), () => Effect.never),
      { startImmediately: true },
    )
    yield* Fiber.interrupt(fiber)
    expect(fiber.pollUnsafe()?._tag).toBe("Failure")
  })
})
