import { ReplayJobQueue } from "@outreach/domain/deliveries/ReplayJobQueue"
import type { EndpointId } from "@outreach/domain/Identifier"
import { DeliveryGauges } from "@outreach/postgres/deliveries/DeliveryGauges"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, meanwhile } = commandLine()

/** An endpoint that was disabled because it failed since two days ago, with dead letters from before that time and after it. */
const seed = () =>
  meanwhile(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { endpoint } = yield* seedDeadLetters(5)
      const days = sql`make_interval(days => n::int) from (
        select ctid as row_ctid, row_number() over (order by id) as n from dead_letters where endpoint_id = ${endpoint.id}
      ) each`
      yield* sql`update dead_letters set finished_at = clock_timestamp() - interval '1 hour' - ${days} where dead_letters.ctid = row_ctid`
      yield* sql`update webhook_endpoints set enabled = false, disabled_at = now(), disabled_reason = 'failing' where id = ${endpoint.id}`
      yield* sql`
        update endpoint_readers set failing_since = clock_timestamp() - interval '3 days', notices = 3 where endpoint_id = ${endpoint.id}`
      return endpoint.id
    }),
  )

const waiting = (endpointId: EndpointId) =>
  meanwhile(SqlClient.SqlClient.use((sql) => sql`select from replay_jobs where endpoint_id = ${endpointId}`))

describe("endpoints enable", () => {
  it("says what the endpoint missed since it began to fail, and the one command that sends it", async () => {
    const id = await seed()
    const { code, stdout, stderr } = await run(["endpoints", "enable", id])
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^missed_events +2$/m) })
    expect(stderr).toContain("It missed 2 events, which became dead letters since it began to fail.")
    const [, command] = /`ops ([^`]*)`/.exec(stderr)!
    expect(await waiting(id)).toEqual([])
    const job = await runJson(...command!.split(" "), "--detach")
    expect(job).toMatchObject({ kind: "dead_letters", endpoint_id: id, total: 2 })
    expect((await runJson("endpoints", "show", id)).failing_since).toBe(null)
    expect((await run(["endpoints", "enable", id])).stderr).not.toContain("missed")
  })

  it("sends what the endpoint missed with --replay-missed, and nothing else", async () => {
    const id = await seed()
    const { code, stderr } = await run(["endpoints", "enable", id, "--replay-missed", "--rate", "7"])
    expect(code).toBe(0)
    expect(stderr).toMatch(/^It missed 2 events; rpl_[0-9a-f]{32} sends them\./m)
    const [, job] = /(rpl_[0-9a-f]{32})/.exec(stderr)!
    expect((await runJson("replays", "list")).data).toContainEqual(
      expect.objectContaining({ id: job, total: 2, rate: 7 }),
    )
    expect((await runJson("endpoints", "show", id)).enabled).toBe(true)
  })

  it("is not needed to end the alert of an endpoint that is gone for good: an operator disables it", async () => {
    const id = await seed()
    const { disabled_at, disabled_reason } = await runJson("endpoints", "show", id)
    expect(disabled_reason).toBe("failing")
    expect(await runJson("endpoints", "disable", id)).toMatchObject({ disabled_at, disabled_reason: "operator" })
    const { endpointsFailing } = await meanwhile(Effect.flatMap(DeliveryGauges, ({ readState }) => readState))
    // Those of the other tests were enabled.
    expect(endpointsFailing).toEqual({ some: 0, none: 0 })
  })

  it("sends nothing where nothing was missed", async () => {
    const id = await seed()
    await runJson("endpoints", "enable", id)
    expect((await run(["endpoints", "enable", id, "--replay-missed"])).code).toBe(0)
    expect(await waiting(id)).toEqual([])
  })
})

describe("endpoints replay", () => {
  it("sends old events of the log to a disabled endpoint, once its dead letters were removed, and lets them wait", async () => {
    const { id, count } = await meanwhile(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { endpoint, organization } = yield* seedDeadLetters(2)
        yield* sql`select add_partitions('events', clock_timestamp() - interval '200 days')`
        yield* sql`update events set emitted_at = emitted_at - interval '100 days' where organization_id = ${organization.id}`
        const [row] = yield* sql<{ count: number }>`
          select count(*)::int as count from events where organization_id = ${organization.id} and type like 'outreach.%'`
        return { id: endpoint.id, count: row!.count }
      }),
    )
    expect((await runJson("dead-letters", "remove", "--older-than", "0s", "--yes")).removed).toBeGreaterThanOrEqual(2)
    const range = ["endpoints", "replay", id, "--from", "2020-01-01T00:00:00Z", "--to", "2099-01-01T00:00:00Z"]
    expect(await runJson(...range, "--dry-run")).toEqual({ count })
    expect(await runJson(...range, "--detach")).toMatchObject({ kind: "log", total: count })
    const sent = await meanwhile(
      Effect.gen(function* () {
        const { replayNextChunk } = yield* ReplayJobQueue
        // The jobs of other tests may be carried out before.
        yield* Effect.repeat(replayNextChunk, { until: (done) => "replay" in done && done.replay.endpointId === id })
        const sql = yield* SqlClient.SqlClient
        return yield* sql`select enabled from deliveries join webhook_endpoints on webhook_endpoints.id = endpoint_id where endpoint_id = ${id} and replay`
      }),
    )
    expect(sent).toEqual(Array.from({ length: count }, () => ({ enabled: false })))
    expect((await runJson("endpoints", "enable", id)).enabled).toBe(true)
  })
})
