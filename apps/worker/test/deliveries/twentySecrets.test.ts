import { createServer } from "node:http"
import { expect, it } from "@effect/vitest"
import { SPECIFIED_SCHEDULE } from "@outreach/domain/deliveries/deliverySchedule"
import { MAX_ACTIVE_SECRETS, type SecretOwner } from "@outreach/domain/deliveries/SigningSecretRepository"
import { rotateSecretWithinBound } from "@outreach/domain/deliveries/SigningSecrets"
import { verify } from "@outreach/signature/node"
import { eventually } from "@outreach/testing/eventually"
import { listen } from "@outreach/testing/listen"
import { publishSent } from "@outreach/testing/publishTogether"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { HttpWebhookClient, NodeSigner } from "@outreach/webhooks/HttpWebhookClient"
import { Effect, Layer, Redacted } from "effect"
import { deliver } from "../../src/deliveries/deliver.ts"
import { journey } from "../journey.ts"

const { run } = journey()
const ROTATIONS = 20

it("signs with the newest 16 of 20 secrets, of an organization and then of an endpoint's own, and with no other", async () => {
  const calls: Array<{ readonly header: string; readonly body: Buffer }> = []
  const server = createServer(async (request, response) => {
    calls.push({ header: String(request.headers["x-signature"]), body: Buffer.concat(await request.toArray()) })
    response.end()
  })
  const endpointUrl = `http://127.0.0.1:${await listen(server)}/`
  const { organization, endpoint, campaign, secret } = await run(seedCampaign({ recipients: 0, endpointUrl }))
  const verifies = ({ header, body }: (typeof calls)[number], each: Redacted.Redacted) => {
    try {
      verify(header, body, [Redacted.value(each)], { now: Date.now() / 1000 })
      return true
    } catch {
      return false
    }
  }
  const rotateAndPublish = Effect.fnUntraced(function* (owner: SecretOwner) {
    const rotated = yield* Effect.forEach(Array.from({ length: ROTATIONS }), () =>
      rotateSecretWithinBound(owner, 86_400),
    )
    const before = calls.length
    yield* publishSent(campaign, 1)
    yield* Effect.promise(() =>
      eventually(
        () => calls.length,
        (count) => count > before,
      ),
    )
    return { secrets: rotated.map((each) => each.secret), call: calls.at(-1)! }
  })
  const worker = deliver({
    schedule: SPECIFIED_SCHEDULE,
    drainSeconds: 0,
    maxInFlight: 100,
    perEndpoint: 16,
    leaseSeconds: 9,
    callSeconds: 5,
  })
  const ports = Layer.merge(HttpWebhookClient({ allowPrivateAddresses: true, callMs: 5000 }), NodeSigner)
  const both = Effect.gen(function* () {
    const shared = yield* rotateAndPublish({ organizationId: organization.id })
    return { shared, own: yield* rotateAndPublish({ endpointId: endpoint.id }) }
  })
  const { shared, own } = await run(Effect.raceFirst(both, Effect.provide(worker, ports)))
  for (const { secrets, call } of [shared, own]) {
    expect(call.header.match(/v1=/g)).toHaveLength(MAX_ACTIVE_SECRETS)
    expect(call.header.length).toBeLessThan(1200)
    expect(secrets.map((each) => verifies(call, each))).toEqual([...Array(4).fill(false), ...Array(16).fill(true)])
    expect(verifies(call, secret)).toBe(false)
  }
  expect(shared.secrets.filter((each) => verifies(own.call, each))).toEqual([])
})
