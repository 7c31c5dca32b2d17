import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import type { RequestCount } from "@outreach/postgres/organizations/PartnerActivity"
import { sign } from "@outreach/signature/node"
import { eventually } from "@outreach/testing/eventually"
import { publishSent } from "@outreach/testing/publishTogether"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { ask } from "../ask.ts"
import { startApi } from "../startApi.ts"

const api = startApi()
const EVENTS = "/v1/partners/consumer/events?since=2020-01-01T00:00:00Z"

const seedKey = async () => {
  const seed = await api().run(seedCampaign({ recipients: 3 }))
  const { id, text } = await api().issue(seed.organization.id, ["events:read", "tokens:read"])
  return { ...seed, keyId: id, key: text }
}
type Seed = Awaited<ReturnType<typeof seedKey>>

const hourly = ({ organization }: Seed) =>
  api().run(
    SqlClient.SqlClient.use(
      (sql) => sql<RequestCount>`
        select caller_id as "callerId", code, requests::int, peak from request_counts where organization_id = ${organization.id}`,
    ),
  )
/** The counts of a caller by code, whatever the hour. */
const countsOf = (rows: ReadonlyArray<RequestCount>, callerId: string) => {
  const counts: Record<string, number> = {}
  for (const row of rows) {
    if (row.callerId === callerId) counts[row.code || "served"] = (counts[row.code || "served"] ?? 0) + row.requests
  }
  return counts
}

const postWebhook = (seed: Seed, secret: Redacted.Redacted, eventId: string) => {
  const body = JSON.stringify({
    object: "event",
    livemode: false,
    event_id: eventId,
    event_type: "clinician.unheard_of",
    event_version: 1,
    occurred_at: "2026-11-21T00:00:00Z",
    emitted_at: "2026-11-21T00:00:00Z",
    source: "consumer",
    data: {},
  })
  const timestamp = Math.floor(Date.now() / 1000)
  return fetch(`${api().url}/v1/partners/consumer/webhooks/${seed.endpoint.id}`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "X-Signature": sign(new TextEncoder().encode(body), [Redacted.value(secret)], { timestamp }),
    },
    body,
  })
}

it("counts what each key is answered, by the code of the error, and how full its rate window was", async () => {
  const seed = await seedKey()
  const { keyId: id, key } = seed
  await ask(api(), EVENTS, { key })
  await ask(api(), EVENTS, { key })
  await ask(api(), `${EVENTS}&limit=0`, { key })
  await ask(api(), "/v1/partners/consumer/tokens/AAAAAA", { key, headers: { "Idempotency-Key": "once" } })
  await ask(api(), "/v1/partners/consumer/digest?date=2026-11-21", { key })
  await api().setCount(id, 100)
  // The first is refused by the database, the second by the process itself.
  await ask(api(), EVENTS, { key })
  await ask(api(), EVENTS, { key })
  const rows = await eventually(
    () => hourly(seed),
    (rows) => (countsOf(rows, id)["RATE_LIMITED"] ?? 0) === 2,
  )
  expect(countsOf(rows, id)).toEqual({
    served: 2,
    INVALID_PARAMETER: 1,
    TOKEN_NOT_FOUND: 1,
    INSUFFICIENT_SCOPE: 1,
    RATE_LIMITED: 2,
  })
  expect(Math.max(...rows.map(({ peak }) => peak))).toBe(100)
})

it("counts webhooks that came, and bad signatures, by the endpoint they came to", async () => {
  const seed = await seedKey()
  expect((await postWebhook(seed, seed.secret, `evt_${"a".repeat(32)}`)).status).toBe(200)
  expect((await postWebhook(seed, seed.secret, `evt_${"b".repeat(32)}`)).status).toBe(200)
  expect((await postWebhook(seed, Redacted.make(`whsec_${"A".repeat(43)}`), `evt_${"c".repeat(32)}`)).status).toBe(401)
  const rows = await eventually(
    () => hourly(seed),
    (rows) => countsOf(rows, seed.endpoint.id)["INVALID_SIGNATURE"] !== undefined,
  )
  expect(countsOf(rows, seed.endpoint.id)).toEqual({ served: 2, INVALID_SIGNATURE: 1 })
})

it("notes how far a key has read a list, and of which types", async () => {
  const seed = await seedKey()
  await api().run(publishSent(seed.campaign, 5))
  const positions = (isThere: (found: { readonly types: string | null; readonly hasMore: boolean }) => boolean) =>
    eventually(
      () =>
        api().run(
          SqlClient.SqlClient.use(
            (sql) => sql<{ types: string | null; hasMore: boolean }>`
              select key_id as "keyId", list, array_to_string(types, ',') as types, has_more as "hasMore", position_id as id
              from read_positions where organization_id = ${seed.organization.id}`,
          ),
        ),
      (found) => found[0] !== undefined && isThere(found[0]),
    )
  const first = await ask(api(), `${EVENTS}&limit=2`, { key: seed.key })
  expect(await positions(() => true)).toEqual([
    { keyId: seed.keyId, list: "events", types: null, hasMore: true, id: first.body.data[1].event_id },
  ])
  const rest = await ask(api(), `${EVENTS}&cursor=${first.body.next_cursor}`, { key: seed.key })
  expect(await positions(({ hasMore }) => !hasMore)).toMatchObject([{ id: rest.body.data.at(-1).event_id }])
  await ask(api(), `${EVENTS}&type=outreach.email_bounced`, { key: seed.key })
  await positions(({ types }) => types === "outreach.email_bounced")
})

it("notes that a partner still signs with the old secret after a rotation", async () => {
  const seed = await seedKey()
  const next = await api().run(rotateSecret(seed.organization.id, 3600))
  expect((await postWebhook(seed, seed.secret, `evt_${"d".repeat(32)}`)).status).toBe(200)
  const secrets = () =>
    api().run(Effect.flatMap(SigningSecretRepository, ({ list }) => list({ organizationId: seed.organization.id })))
  const [young, old] = await eventually(secrets, ([, old]) => old?.lastVerifiedAt !== null)
  expect(young!.lastVerifiedAt).toBeNull()
  expect((await postWebhook(seed, next, `evt_${"e".repeat(32)}`)).status).toBe(200)
  const [used] = await eventually(secrets, ([young]) => young?.lastVerifiedAt !== null)
  expect(used!.lastVerifiedAt! > old!.lastVerifiedAt!).toBe(true)
})
