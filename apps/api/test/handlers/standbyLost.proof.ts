import { type Postgres, startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { setSynchronousStandbys, startStandby } from "@outreach/embedded-postgres/startStandby"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/eventually"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { migrateWithRoles } from "@outreach/testing/testRoles"
import { until } from "@outreach/testing/until"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, beforeAll, expect, it } from "vitest"
import { eventText, postWebhook } from "../postWebhook.ts"
import { type RunningApi, runApi } from "../runApi.ts"
import { DOCS_URL } from "../startApi.ts"

let primary: Postgres
let standby: Postgres
let api: RunningApi
const run = <A, E>(effect: Effect.Effect<A, E, Effect.Services<typeof setUp> | SqlClient.SqlClient>) =>
  Effect.runPromise(Effect.provide(effect, adaptersFor(primary.url)))
const setUp = Effect.andThen(migrateWithRoles, seedCampaign({ recipients: 0 }))

beforeAll(async () => {
  primary = await startPostgres({ settings: { synchronous_commit: "on" } })
  await run(migrateWithRoles)
  standby = await startStandby(primary, { name: "s1" })
  await setSynchronousStandbys(primary.url, "s1")
  api = await runApi(primary.url, { DOCS_URL })
})
afterAll(async () => {
  await api?.stop()
  await standby?.stop()
  await primary?.stop()
})

it("returns 503 while commits wait for a lost standby, and stores each event once after it is back", async () => {
  const { endpoint, secret } = await run(setUp)
  const post = (eventId: string) => postWebhook(api, { endpoint, secret }, eventText({ event_id: eventId }))
  const ready = async () => {
    const response = await fetch(`${api.url}/readyz`)
    return { ...((await response.json()) as { code?: string; reason?: string }), status: response.status }
  }
  const inbox = () =>
    run(
      SqlClient.SqlClient.use((sql) => sql<{ id: string }>`select event_id as id from inbox order by 1`).pipe(
        Effect.map((rows) => rows.map(({ id }) => id)),
      ),
    )
  const cancelWaits = SqlClient.SqlClient.use(
    (sql) => sql<{ pid: number }>`
      select pid, pg_cancel_backend(pid) from pg_stat_activity
      where wait_event = 'SyncRep' and application_name like 'outreach-api/%' and query not like '%pg_logical_emit_message%'`,
  )
  expect((await post("evt_1")).status).toBe(200)
  await standby.stop()

  const posts = ["evt_1", "evt_2", "evt_3", "evt_2"].map(post)
  const unready = await eventually(ready, ({ status }) => status === 503)
  expect(unready).toMatchObject({
    code: "COMMITS_WAIT",
    reason: expect.stringMatching(/^commits wait for a synchronous/),
  })
  for (const { status, body } of await Promise.all(posts)) {
    expect([status, body.error.code, body.error.details]).toEqual([503, "SERVICE_UNAVAILABLE", { retry_after: 5 }])
  }
  expect(await inbox()).toEqual(["evt_1"])

  // After an operator cancels the waits, the committed data exists only on this machine: a repetition isn't acknowledged as stored.
  await eventually(
    () => run(cancelWaits),
    ({ length }) => length === 0,
  )
  expect(await inbox()).toEqual(["evt_1", "evt_2", "evt_3"])
  for (const { status } of await Promise.all(["evt_1", "evt_2", "evt_4"].map(post))) expect(status).toBe(503)
  await until(api.log, ({ lines }) =>
    lines.some(({ message, annotations }) => message === "database unusable" && annotations["code"] === "COMMITS_WAIT"),
  )

  standby = await startStandby(primary, { name: "s1" })
  await eventually(ready, ({ status }) => status === 200)
  for (const id of ["evt_1", "evt_2", "evt_3", "evt_4"]) expect((await post(id)).status).toBe(200)
  expect(await inbox()).toEqual(["evt_1", "evt_2", "evt_3", "evt_4"])
  await until(api.log, "database usable again")
})
