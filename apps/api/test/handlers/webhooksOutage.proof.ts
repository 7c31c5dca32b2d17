import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { eventExamples } from "@outreach/contract"
import { type Postgres, startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { migrateWithRoles } from "@outreach/testing/testRoles"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import Stripe from "stripe"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { type Answer, checkAnswer } from "../ask.ts"
import { type RunningApi, runApi } from "../runApi.ts"
import { DOCS_URL } from "../startApi.ts"

let folder: string
let database: Postgres
let api: RunningApi
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "outreach-outage-"))
  // The server's user is another when this process is root's.
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

it("asks for other attempts while the database is away, and has each event once when it is back", {
  timeout: 60_000,
}, async () => {
  const [known, unknown] = [await run(setUp), await run(setUp)]
  const post = async ({ endpoint, secret }: typeof known, eventId: string): Promise<Answer> => {
    const path = `/v1/partners/consumer/webhooks/${endpoint.id}`
    const payload = JSON.stringify({ ...eventExamples["clinician.account_created"], event_id: eventId })
    const response = await fetch(api.url + path, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "X-Signature": Stripe.webhooks.generateTestHeaderString({ payload, secret: Redacted.value(secret) }),
      },
      body: payload,
    })
    const answer = { status: response.status, headers: response.headers, body: await response.json() }
    checkAnswer(answer, "POST", path)
    return answer
  }
  expect((await post(known, "evt_1")).status).toBe(200)

  const { port } = database
  await database.stop()
  // The process remembers the secrets of one of the two.
  const away = await Promise.all([post(known, "evt_2"), post(known, "evt_3"), post(unknown, "evt_4")])
  for (const { status, body } of away) {
    expect([status, body.error.code, body.error.details]).toEqual([503, "SERVICE_UNAVAILABLE", { retry_after: 5 }])
  }
  expect((await fetch(`${api.url}/v1/health`)).status).toBe(200)

  database = await startPostgres({ dataDirectory: folder, port })
  const again = () => Promise.all([post(known, "evt_2"), post(known, "evt_3"), post(unknown, "evt_4")])
  await vi.waitUntil(async () => (await again()).every(({ status }) => status === 200), { timeout: 100_000 })
  await again()
  const rows = await run(
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql<{ event_id: string; differing: number }>`select event_id, differing from inbox order by event_id`,
    ),
  )
  expect(rows).toEqual(["evt_1", "evt_2", "evt_3", "evt_4"].map((event_id) => ({ event_id, differing: 0 })))
})
