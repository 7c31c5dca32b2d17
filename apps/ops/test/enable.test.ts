import type { EndpointId } from "@outreach/domain/Identifier"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, meanwhile } = commandLine()

/** An endpoint that was disabled because it failed since two days ago, with dead letters of before and after that. */
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

  it("sends nothing where nothing was missed", async () => {
    const id = await seed()
    await runJson("endpoints", "enable", id)
    expect((await run(["endpoints", "enable", id, "--replay-missed"])).code).toBe(0)
    expect(await waiting(id)).toEqual([])
  })
})
