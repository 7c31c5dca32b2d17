import { describe, expect } from "@effect/vitest"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import type { InboxState } from "@outreach/domain/inbox/InboxRepository"
import { receiveEvent, SECRET_ID } from "@outreach/testing/receiveEvent"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { InboxReader } from "../../src/inbox/InboxReader.ts"
import { inbox } from "../../src/operations/inbox.ts"

const { test } = testsOnDatabase()

const account = (n: number, slug = "heart-failure") => ({
  consumer_program_slug: slug,
  npi: npi(n),
  email: email(n),
  attribution: "unattributed",
  created_at: "2026-11-20T10:00:00Z",
})

/** Reads all pages as a command and a page of the console do. */
const readAll = Effect.fnUntraced(function* (
  state: InboxState,
  filter: Parameters<typeof inbox.read>[0],
  limit: number,
) {
  const states = { waiting: state === "waiting", applied: state === "applied" }
  const ids: Array<string> = []
  let after: string | null = null
  do {
    const page: Effect.Success<ReturnType<typeof inbox.read>> = yield* inbox.read(
      { ...filter, ...states },
      { limit, after },
    )
    expect(page.rows.length).toBeLessThanOrEqual(limit)
    const shown = state === "quarantined" ? "set_aside" : state
    expect(page.rows.every((entry) => entry.state === shown)).toBe(true)
    ids.push(...page.rows.map(({ eventId }) => eventId))
    after = page.next
  } while (after !== null)
  return ids
})

/** Stores many events at once, a second apart. */
const insertMany = Effect.fnUntraced(function* (
  seed: Effect.Success<ReturnType<typeof seedCampaign>>,
  count: number,
  state: InboxState,
  type = "clinician.account_created",
) {
  yield* sql`
    insert into inbox (organization_id, event_id, endpoint_id, secret_id, type, body, received_at, applied_at, quarantined_at, reason)
    select ${seed.organization.id}, ${`evt_${state}_`} || ${type} || lpad(n::text, 6, '0'), ${seed.endpoint.id}, ${SECRET_ID}, ${type}, '{}',
      now() - n * interval '1 second',
      case when ${state}::text = 'applied' then now() end, case when ${state}::text = 'quarantined' then now() - n * interval '1 second' end,
      case when ${state}::text = 'quarantined' then 'data.npi is missing or not valid' end
    from generate_series(1, ${count}::int) n`
})

describe("the list of inbound events", () => {
  test("pages through each state: pending and quarantined events oldest first, applied ones newest first", function* () {
    const seed = yield* seedCampaign({ recipients: 0 })
    for (const state of ["applied", "quarantined", "waiting"] as const) yield* insertMany(seed, 25, state)
    const organizationId = seed.organization.id
    for (const state of ["quarantined", "waiting"] as const) {
      const ids = yield* readAll(state, { organizationId }, 10)
      expect(ids).toHaveLength(25)
      expect(ids).toEqual([...ids].sort().reverse())
    }
    const applied = yield* readAll("applied", { organizationId }, 10)
    expect(applied).toHaveLength(25)
    expect(applied).toEqual([...applied].sort())
  })

  test("lists the events of every organization without a filter, and of one with it", function* () {
    const [one, other] = [yield* seedCampaign({ recipients: 0 }), yield* seedCampaign({ recipients: 0 })]
    for (const seed of [one, other]) {
      for (const state of ["applied", "quarantined", "waiting"] as const) yield* insertMany(seed, 3, state, "of.two")
    }
    for (const state of ["applied", "quarantined", "waiting"] as const) {
      expect(yield* readAll(state, { type: "of.two" }, 2)).toHaveLength(6)
      expect(yield* readAll(state, { type: "of.two", organizationId: one.organization.id }, 2)).toHaveLength(3)
    }
  })

  test("finds the few applied events of a type among many of different types, a page at a time", function* () {
    const seed = yield* seedCampaign({ recipients: 0 })
    yield* insertMany(seed, 1200, "applied", "clinician.account_created")
    yield* insertMany(seed, 1, "applied", "rare")
    yield* sql`
      insert into inbox (organization_id, event_id, endpoint_id, secret_id, type, body, received_at, applied_at)
      values (${seed.organization.id}, 'evt_old', ${seed.endpoint.id}, ${SECRET_ID}, 'rare', '{}', now() - interval '1 hour', now())`
    expect(yield* readAll("applied", { organizationId: seed.organization.id, type: "rare" }, 10)).toEqual([
      "evt_applied_rare000001",
      "evt_old",
    ])
  })

  test("filters by reason and by the time of receipt", function* () {
    const seed = yield* seedCampaign({ recipients: 0 })
    const organizationId = seed.organization.id
    yield* insertMany(seed, 3, "quarantined")
    yield* insertMany(seed, 10, "applied")
    const { list } = yield* InboxReader
    const { rows } = yield* list("quarantined", { organizationId, reason: "data.npi is missing or not valid" }, 10)
    expect(rows).toHaveLength(3)
    expect((yield* list("quarantined", { organizationId, reason: "another" }, 10)).rows).toEqual([])
    const [, second] = rows
    for (const state of ["quarantined", "applied"] as const) {
      const until = yield* list(state, { organizationId, to: second!.receivedAt }, 20)
      const since = yield* list(state, { organizationId, from: second!.receivedAt }, 20)
      const [before, from] = [until.rows.length, since.rows.length]
      expect(before + from).toBe(state === "applied" ? 10 : 3)
      expect(from).toBe(2)
    }
  })
})

test("InboxReader.counts and reasons count pending and quarantined events, by type and reason, up to a limit", function* () {
  const seed = yield* seedCampaign({ recipients: 0 })
  const { counts, reasons } = yield* InboxReader
  const organizationId = seed.organization.id
  expect(yield* counts(organizationId)).toEqual({ quarantined: 0, waiting: 0, waitingSince: null })
  yield* insertMany(seed, COUNT_CAP + 5, "quarantined")
  yield* receiveEvent(seed, "evt_1", "clinician.account_created", account(1))
  const counted = yield* counts(organizationId)
  expect(counted).toMatchObject({ quarantined: COUNT_CAP, waiting: 1 })
  expect(counted.waitingSince).not.toBeNull()
  expect(yield* reasons(organizationId)).toMatchObject([
    { type: "clinician.account_created", reason: "data.npi is missing or not valid", count: COUNT_CAP },
  ])
})
