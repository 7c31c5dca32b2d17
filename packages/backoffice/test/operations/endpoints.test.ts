import { describe, expect } from "@effect/vitest"
import type { Endpoint } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { ReplayJobQueue } from "@outreach/domain/deliveries/Replays"
import { parseInput } from "@outreach/domain/textSchema"
import { readFacts } from "@outreach/postgres/operators/FactReader"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { sql } from "@outreach/testing/sql"
import { Effect, Exit, Record, Result, Struct } from "effect"
import { disableEndpoint, enableEndpoint, removeEndpoint } from "../../src/operations/endpointActions.ts"
import { createEndpoint, describeSettings, endpoints, updateEndpoint } from "../../src/operations/endpoints.ts"
import type { ValuesOf } from "../../src/operations/Field.ts"
import { readAll } from "../../src/operations/List.ts"
import { limitOrganization } from "../../src/operations/organizations.ts"

const { test } = testsOnDatabase()

const { url, ...settings } = updateEndpoint.input
/** Parses the texts of fields. */
const entered = (texts: Readonly<Record<string, string>>): ValuesOf<typeof settings> =>
  Record.map(texts, (text, key) =>
    Result.getOrThrow(parseInput<unknown, string>(settings[key as "types"].schema)(text)),
  )

const create = (texts = {}) =>
  Effect.flatMap(seedCampaign({ recipients: 0 }), ({ organization }) =>
    createEndpoint.run({ organizationId: organization.id, url: "https://acme.test/", ...entered(texts) }, ""),
  )

describe("The settings of an endpoint", () => {
  test("are changed one by one, and shown as they are entered", function* () {
    const before = { types: "outreach.email_sent", perSecond: "10", inFlight: "2", retryStatuses: "429" }
    let endpoint: Endpoint = yield* create({ ...before, retrySchedule: "1m", standardWebhooks: "yes" })
    const defaults = { eventTypes: ["outreach.email_sent"], perSecond: 10, maxInFlight: 2, standardWebhooks: true }
    expect(endpoint).toMatchObject({ ...defaults, retryStatuses: [429], retryDelays: [60], disableWhenFailing: true })
    const cases = [
      ["types", "all", { eventTypes: null }],
      ["perSecond", "none", { perSecond: null }],
      ["inFlight", "1000", { maxInFlight: 1000 }],
      ["standardWebhooks", "no", { standardWebhooks: false }],
      ["disableWhenFailing", "no", { disableWhenFailing: false }],
      ["retryStatuses", "408,503,410=disable", { retryStatuses: [408, 503], disableOnGone: true }],
      ["retryStatuses", "none", { retryStatuses: [], disableOnGone: false }],
      ["retrySchedule", "10s,1m,24h", { retryDelays: [10, 60, 86_400] }],
      ["retrySchedule", "default", { retryDelays: null }],
      ["headers", "X-Api-Key: 123\nX-B: 4", { headers: ["X-Api-Key", "X-B"] }, "X-Api-Key, X-B"],
      ["headers", "none", { headers: [] }],
    ] as const
    expect(new Set(cases.map(([key]) => key)), "Add each new setting to these cases.").toEqual(
      new Set(Struct.keys(settings)),
    )
    for (const [key, text, changes, shownText = text] of cases) {
      const changed = yield* updateEndpoint.run({ endpointId: endpoint.id, ...entered({ [key]: text }) }, "")
      expect(changed).toEqual({ ...endpoint, ...changes, version: endpoint.version + 1 })
      endpoint = changed
      const shown = yield* updateEndpoint.find!({ endpointId: endpoint.id })
      expect(describeSettings(shown)[settings[key].control.label]).toBe(shownText)
    }
  })

  test("keep the failures at the address, until it changes", function* () {
    const { id: endpointId } = yield* create()
    yield* sql`
      update endpoint_readers set failures = 5, allowance = 1, probe_at = clock_timestamp() + interval '1 hour'
      where endpoint_id = ${endpointId}`
    const { find } = yield* EndpointRepository
    yield* updateEndpoint.run({ endpointId, inFlight: 2 }, "")
    expect((yield* find(endpointId)).breaker).toBe("open")
    yield* updateEndpoint.run({ endpointId, url: "https://acme.test/new" }, "")
    expect((yield* find(endpointId)).breaker).toBe("closed")
  })

  test("are changed by one of several operators at once", function* () {
    const { id: endpointId, version } = yield* create()
    const change = (inFlight: number) => Effect.exit(updateEndpoint.run({ endpointId, inFlight }, "", String(version)))
    const exits = yield* Effect.forEach([1, 2, 3], change, { concurrency: "unbounded" })
    expect(exits.filter(({ _tag }) => _tag === "Success")).toHaveLength(1)
  })
})

describe("Enabling an endpoint", () => {
  /** Seeds an endpoint that last succeeded three days ago and was disabled, with two dead letters since then and three earlier ones. */
  const seedFailing = Effect.gen(function* () {
    const { organization, endpoint } = yield* seedDeadLetters(5)
    yield* sql`
      insert into delivery_outcomes (organization_id, endpoint_id, at, delivered)
      values (${organization.id}, ${endpoint.id}, clock_timestamp() - interval '3 days', 1)`
    yield* sql`
      update dead_letters set finished_at = clock_timestamp() - interval '1 hour' - make_interval(days => n::int)
      from (select ctid as row_ctid, row_number() over (order by id) as n from dead_letters where endpoint_id = ${endpoint.id}) each
      where dead_letters.ctid = row_ctid`
    yield* sql`
      update webhook_endpoints set enabled = false, disabled_at = now(), disabled_reason = 'failing' where id = ${endpoint.id}`
    return endpoint.id
  })

  test("counts the missed events each time, and replays them once if that is chosen", function* () {
    const endpointId = yield* seedFailing
    for (const _ of [1, 2]) {
      const input = { endpointId }
      expect((yield* enableEndpoint.plan!(input)).facts).toMatchObject({ "Missed events": "2" })
      expect(yield* Effect.flip(enableEndpoint.run({ ...input, rate: 100 }, ""))).toMatchObject({
        _tag: "NothingToReplay",
      })
      const enabled = yield* enableEndpoint.run(input, "")
      expect(enabled).toMatchObject({ enabled: true, missedEvents: 2, replayId: null })
      expect(enableEndpoint.done(enabled, input)).toContain(`--endpoint ${endpointId} --from ${enabled.missedSince}`)
    }
    yield* disableEndpoint.run({ endpointId }, "")
    yield* updateEndpoint.run({ endpointId, url: "https://new.example/webhooks" }, "")
    const input = { endpointId, replayMissed: true, rate: 10_000 }
    const { replayId, missedSince } = yield* enableEndpoint.run(input, "")
    const { find, replayNextChunk } = yield* ReplayJobQueue
    expect(yield* find(replayId!)).toMatchObject({ total: 2, rate: 10_000, from: missedSince })
    yield* Effect.repeat(replayNextChunk, { until: (done) => "replay" in done && done.replay.state !== "running" })
    expect(yield* enableEndpoint.run(input, "")).toMatchObject({ missedEvents: 0, missedSince: null, replayId: null })
  })

  test("isn't needed to close the alert of a removed service: an operator disables the endpoint", function* () {
    const endpointId = yield* seedFailing
    const failing = yield* readAll(endpoints, { state: "failing" })
    expect(failing.map(({ id }) => id)).toContain(endpointId)
    const { disabledAt } = yield* updateEndpoint.find!({ endpointId })
    const disabled = { disabledAt, disabledReason: "operator" }
    expect(yield* disableEndpoint.run({ endpointId }, "")).toMatchObject(disabled)
    const { endpointsFailing } = yield* readFacts(["endpointsFailing"])
    expect(endpointsFailing).toEqual({ some: 0, none: 0 })
  })
})

test("an organization can have endpoints up to its limit, also if they are added at the same time", function* () {
  const { organization } = yield* seedCampaign({ recipients: 0 })
  const organizationId = organization.id
  yield* limitOrganization.run({ organizationId, maxEndpoints: 3 }, "")
  const add = createEndpoint.run({ organizationId, url: "https://acme.test/" }, "")
  const exits = yield* Effect.all(
    Array.from({ length: 5 }, () => Effect.exit(add)),
    { concurrency: "unbounded" },
  )
  const [made] = exits.filter(Exit.isSuccess)
  expect(exits.filter(Exit.isSuccess)).toHaveLength(2)
  expect(yield* Effect.flip(add)).toMatchObject({ _tag: "TooManyEndpoints", message: expect.stringContaining("has 3") })
  yield* removeEndpoint.run({ endpointId: made!.value.id }, "")
  yield* add
})
