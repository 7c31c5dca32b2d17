import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import type { RequestCount } from "@outreach/postgres/organizations/PartnerActivity"
import { eventually } from "@outreach/testing/eventually"
import { publishSent } from "@outreach/testing/publishTogether"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Redacted } from "effect"
import { expect, it } from "vitest"
import { ask } from "../ask.ts"
import { eventText, postWebhook } from "../postWebhook.ts"
import { startApi } from "../startApi.ts"

const api = startApi()
const EVENTS = "/v1/partners/consumer/events?since=2020-01-01T00:00:00Z"

const seedKey = async () => {
  const seed = await api().run(seedCampaign({ recipients: 3 }))
  const { id, text } = await api().issue(seed.organization.id, ["events:read", "tokens:read"])
  return { ...seed, keyId: id, key: text }
}

/** Waits until a number of requests of a caller are counted; returns the counts by code, of all hours, and the peak. */
const countsOf = async (callerId: string, requests: number) => {
  const rows = await eventually(
    () =>
      api().sql<Pick<RequestCount, "code" | "requests" | "peak">>(
        (sql) => sql`
          select coalesce(nullif(code, ''), 'served') as code, sum(requests)::int as requests, max(peak) as peak
          from request_counts where caller_id = ${callerId} group by code`,
      ),
    (rows) => rows.reduce((sum, row) => sum + row.requests, 0) >= requests,
  )
  const counts = Object.fromEntries(rows.map((row) => [row.code, row.requests]))
  return { counts, peak: Math.max(...rows.map(({ peak }) => peak)) }
}

it("counts the responses to each key by error code, and the peak of its rate window", async () => {
  const { keyId: id, key } = await seedKey()
  await ask(api(), EVENTS, { key })
  await ask(api(), EVENTS, { key })
  await ask(api(), `${EVENTS}&limit=0`, { key })
  await ask(api(), "/v1/partners/consumer/tokens/AAAAAA", { key, headers: { "Idempotency-Key": "once" } })
  await ask(api(), "/v1/partners/consumer/digest?date=2026-11-21", { key })
  await api().setCount(id, 100)
  // The database refuses the first, and the process the second.
  await ask(api(), EVENTS, { key })
  await ask(api(), EVENTS, { key })
  expect(await countsOf(id, 7)).toEqual({
    counts: { served: 2, INVALID_PARAMETER: 1, TOKEN_NOT_FOUND: 1, INSUFFICIENT_SCOPE: 1, RATE_LIMITED: 2 },
    peak: 100,
  })
})

it("counts received webhooks and bad signatures by endpoint", async () => {
  const seed = await seedKey()
  expect((await postWebhook(api(), seed, eventText({ event_id: "evt_a" }))).status).toBe(200)
  expect((await postWebhook(api(), seed, eventText({ event_id: "evt_b" }))).status).toBe(200)
  const forged = { ...seed, secret: Redacted.make(`whsec_${"A".repeat(43)}`) }
  expect((await postWebhook(api(), forged, eventText({ event_id: "evt_c" }))).status).toBe(401)
  expect((await countsOf(seed.endpoint.id, 3)).counts).toEqual({ served: 2, INVALID_SIGNATURE: 1 })
})

it("records the position up to which a key has read a list, and the types that it filters by", async () => {
  const { organization, campaign, key, keyId } = await seedKey()
  await api().run(publishSent(campaign, 5))
  const positions = (expected: { readonly types?: string; readonly hasMore: boolean }) =>
    eventually(
      () =>
        api().sql<{ types: string | null; hasMore: boolean }>(
          (sql) => sql`
            select key_id as "keyId", list, array_to_string(types, ',') as types, has_more as "hasMore", position_id as id
            from read_positions where organization_id = ${organization.id}`,
        ),
      ([found]) => found?.hasMore === expected.hasMore && found.types === (expected.types ?? null),
    )
  const first = await ask(api(), `${EVENTS}&limit=2`, { key })
  expect(await positions({ hasMore: true })).toEqual([
    { keyId, list: "events", types: null, hasMore: true, id: first.body.data[1].event_id },
  ])
  const rest = await ask(api(), `${EVENTS}&cursor=${first.body.next_cursor}`, { key })
  expect(await positions({ hasMore: false })).toMatchObject([{ id: rest.body.data.at(-1).event_id }])
  await ask(api(), `${EVENTS}&type=outreach.email_bounced`, { key })
  await positions({ hasMore: false, types: "outreach.email_bounced" })
})

it("records that a partner still signs with the old secret after a rotation", async () => {
  const seed = await seedKey()
  const next = await api().run(rotateSecret(seed.organization.id, 3600))
  expect((await postWebhook(api(), seed, eventText({ event_id: "evt_d" }))).status).toBe(200)
  const secrets = () =>
    api().run(SigningSecretRepository.use(({ list }) => list({ organizationId: seed.organization.id })))
  const [young, old] = await eventually(secrets, ([, old]) => old?.lastVerifiedAt !== null)
  expect(young!.lastVerifiedAt).toBeNull()
  expect((await postWebhook(api(), { ...seed, secret: next }, eventText({ event_id: "evt_e" }))).status).toBe(200)
  const [used] = await eventually(secrets, ([young]) => young?.lastVerifiedAt !== null)
  expect(used!.lastVerifiedAt! > old!.lastVerifiedAt!).toBe(true)
})
