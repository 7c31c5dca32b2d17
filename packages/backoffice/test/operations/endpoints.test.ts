import { describe, expect } from "@effect/vitest"
import type { Endpoint } from "@outreach/domain/deliveries/Endpoint"
import { parseInput } from "@outreach/domain/parseInput"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Record, Result } from "effect"
import { backoffice } from "../../src/backoffice.ts"
import { createEndpoint, describeSettings, updateEndpoint } from "../../src/operations/endpoints.ts"
import type { ValuesOf } from "../../src/operations/Field.ts"

const test = effectTest(runOnDatabase({ layer: backoffice }))

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
    for (const [key, text, changes] of [
      ["types", "all", { eventTypes: null }],
      ["perSecond", "none", { perSecond: null }],
      ["inFlight", "1000", { maxInFlight: 1000 }],
      ["standardWebhooks", "no", { standardWebhooks: false }],
      ["disableWhenFailing", "no", { disableWhenFailing: false }],
      ["retryStatuses", "408,503,410=disable", { retryStatuses: [408, 503], disableOnGone: true }],
      ["retryStatuses", "none", { retryStatuses: [], disableOnGone: false }],
      ["retrySchedule", "10s,1m,24h", { retryDelays: [10, 60, 86_400] }],
      ["retrySchedule", "default", { retryDelays: null }],
    ] as const) {
      const changed = yield* updateEndpoint.run({ endpointId: endpoint.id, ...entered({ [key]: text }) }, "")
      expect(changed).toEqual({ ...endpoint, ...changes, version: endpoint.version + 1 })
      endpoint = changed
      const shown = yield* updateEndpoint.find!({ endpointId: endpoint.id })
      expect(describeSettings(shown)[settings[key].control.label]).toBe(text)
    }
  })

  test("are changed by one of several operators at once", function* () {
    const { id: endpointId, version } = yield* create()
    const change = (inFlight: number) => Effect.exit(updateEndpoint.run({ endpointId, inFlight }, "", String(version)))
    const exits = yield* Effect.forEach([1, 2, 3], change, { concurrency: "unbounded" })
    expect(exits.filter(({ _tag }) => _tag === "Success")).toHaveLength(1)
  })
})
