import { createHash } from "node:crypto"
import { EndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { removeEndpoint } from "@outreach/domain/deliveries/Endpoints"
import type { SecretOwner } from "@outreach/domain/deliveries/SigningSecretRepository"
import { rotateSecretWithinBound } from "@outreach/domain/deliveries/SigningSecrets"
import { createIdentifier, type EndpointId } from "@outreach/domain/Identifier"
import { sign } from "@outreach/signature/node"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Redacted } from "effect"
import { expect, it } from "vitest"
import { startApi } from "../startApi.ts"

const api = startApi()
const ROTATIONS = 20

const post = async (endpointId: EndpointId, secret: Redacted.Redacted) => {
  const event_id = `evt_${createHash("sha256")
    .update(`${endpointId}${Redacted.value(secret)}`)
    .digest("hex")
    .slice(0, 32)}`
  const about = { event_id, event_type: "clinician.unheard_of", event_version: 1, source: "consumer", data: {} }
  const at = { occurred_at: "2026-11-21T00:00:00Z", emitted_at: "2026-11-21T00:00:00Z" }
  const body = JSON.stringify({ object: "event", livemode: false, ...about, ...at })
  const timestamp = Math.floor(Date.now() / 1000)
  const signature = sign(new TextEncoder().encode(body), [Redacted.value(secret)], { timestamp })
  const { status } = await fetch(`${api().url}/v1/partners/consumer/webhooks/${endpointId}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Signature": signature },
    body,
  })
  return status
}
const rotate = (owner: SecretOwner) =>
  api().run(
    Effect.forEach(Array.from({ length: ROTATIONS }), () =>
      Effect.map(rotateSecretWithinBound(owner, 86_400), ({ secret }) => secret),
    ),
  )
const statuses = async (endpointId: EndpointId, secrets: ReadonlyArray<Redacted.Redacted>) => {
  const found: Array<number> = []
  for (const secret of secrets) found.push(await post(endpointId, secret))
  return found
}
const NEWEST_16 = [...Array(4).fill(401), ...Array(16).fill(200)]

it("accepts a webhook that the newest 16 of 20 secrets signed, and refuses the ended ones; an endpoint's own are for it alone", async () => {
  const { organization, endpoint, secret } = await api().run(seedCampaign({ recipients: 0 }))
  const other = await api().run(
    Effect.gen(function* () {
      const url = EndpointUrl.make("https://other.test/hooks")
      const given = { organizationId: organization.id, id: yield* createIdentifier("endpoint"), url }
      return yield* (yield* EndpointRepository).create(given)
    }),
  )
  const shared = await rotate({ organizationId: organization.id })
  expect(await statuses(other.id, shared)).toEqual(NEWEST_16)
  expect(await post(other.id, secret)).toBe(401)
  const own = await rotate({ endpointId: endpoint.id })
  expect(await statuses(endpoint.id, own)).toEqual(NEWEST_16)
  expect(await post(endpoint.id, shared.at(-1)!)).toBe(401)
  expect(await post(other.id, own.at(-1)!)).toBe(401)
})

it("answers webhooks to a removed endpoint as those to an unknown one", async () => {
  const { endpoint, secret } = await api().run(seedCampaign({ recipients: 0 }))
  await api().run(removeEndpoint(endpoint.id))
  expect(await post(endpoint.id, secret)).toBe(401)
})
