import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Postgres, startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/eventually"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { migrateWithRoles } from "@outreach/testing/testRoles"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, beforeAll, expect, it } from "vitest"
import { eventText, postWebhook } from "../postWebhook.ts"
import { type RunningApi, runApi } from "../runApi.ts"
import { DOCS_URL } from "../startApi.ts"

let folder: string
let database: Postgres
let api: RunningApi
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "outreach-outage-"))
  // If this process is root, the server runs as another user.
  await chmod(folder, 0o711)
  database = await startPostgres({ dataDirectory: folder })
  api = await runApi(database.url, { DOCS_URL })
})
afterAll(async () => {
  await api?.stop()
  await database?.stop()
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
})

const run = <A, E>(effect: Effect.Effect<A, E, Effect.Services<typeof setUp> | SqlClient.SqlClient>) =>
  Effect.runPromise(Effect.provide(effect, adaptersFor(database.url)))
const setUp = Effect.andThen(migrateWithRoles, seedCampaign({ recipients: 0 }))

it("returns 503 while the database is down, and stores each event once after it is back", async () => {
  const [known, unknown] = [await run(setUp), await run(setUp)]
  const post = (seed: typeof known, eventId: string) => postWebhook(api, seed, eventText({ event_id: eventId }))
  expect((await post(known, "evt_1")).status).toBe(200)

  const { port } = database
  await database.stop()
  // The process has cached the secrets of one of the two.
  const away = await Promise.all([post(known, "evt_2"), post(known, "evt_3"), post(unknown, "evt_4")])
  for (const { status, body } of away) {
    expect([status, body.error.code, body.error.details]).toEqual([503, "SERVICE_UNAVAILABLE", { retry_after: 5 }])
  }
  expect((await fetch(`${api.url}/v1/health`)).status).toBe(200)

  database = await startPostgres({ dataDirectory: folder, port })
  const again = () => Promise.all([post(known, "evt_2"), post(known, "evt_3"), post(unknown, "evt_4")])
  await eventually(again, (answers) => answers.every(({ status }) => status === 200))
  await again()
  const rows = await run(
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql<{ event_id: string; differing: number }>`select event_id, differing from inbox order by event_id`,
    ),
  )
  expect(rows).toEqual(["evt_1", "evt_2", "evt_3", "evt_4"].map((event_id) => ({ event_id, differing: 0 })))
})
