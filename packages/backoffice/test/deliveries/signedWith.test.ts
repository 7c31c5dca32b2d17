import { expect } from "@effect/vitest"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import {
  MAX_ACTIVE_SECRETS,
  rotateSecret,
  rotateSecretWithinBound,
  SigningSecretRepository,
} from "@outreach/domain/deliveries/SigningSecrets"
import type { DeliveryId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { value } from "@outreach/testing/sql"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import { DeliveryReader } from "../../src/deliveries/DeliveryReader.ts"

const { test } = testsOnDatabase()

test("each attempt lists the secrets that signed it: the organization's, the endpoint's, or both in the grace window", function* () {
  const { organization, endpoint, campaign } = yield* seedCampaign({ recipients: 0 })
  yield* publishSent(campaign, 1)
  const token = crypto.randomUUID()
  const expected: Array<ReadonlyArray<string>> = []
  let deliveryId: DeliveryId | undefined
  /** Makes a failing call, with a retry that is due immediately. */
  const call = Effect.gen(function* () {
    const [delivery] = yield* (yield* workerOn(token)).take()
    deliveryId = delivery!.id
    const owner = yield* (yield* SigningSecretRepository).ofEndpoint(endpoint.id)
    expected.push(owner!.secrets.map(({ id }) => id))
    const startedAt = yield* value<Timestamp>`select clock_timestamp()`
    const failed = { startedAt, latencyMs: 1, status: 500, outcome: "server_error", response: "" }
    const attempt = { number: delivery!.attempt, ...failed }
    const retry = { settlement: "retry", delay: 0 } as const
    const outcome = { delivery: delivery!, version: delivery!.version, attempt, ...retry }
    const { write } = yield* DeliveryLeases
    yield* write(token, [{ endpointId: endpoint.id, outcomes: [outcome] }])
  })
  yield* call
  yield* rotateSecret(organization.id, 3600)
  yield* call
  yield* rotateSecretWithinBound({ endpointId: endpoint.id }, 3600)
  yield* call
  // More organization secrets than a signature may have: the endpoint's secrets are kept, because they are first.
  yield* Effect.replicateEffect(rotateSecret(organization.id, 3600), MAX_ACTIVE_SECRETS)
  yield* call
  yield* rotateSecretWithinBound({ endpointId: endpoint.id }, 0)
  yield* call
  expect(expected.map(({ length }) => length)).toEqual([1, 2, 3, MAX_ACTIVE_SECRETS, 1])
  const signed = DeliveryReader.use(({ findSigned }) =>
    Effect.map(findSigned(deliveryId!), ({ attempts }) => attempts.map(({ signedWith }) => signedWith)),
  )
  expect(yield* signed).toEqual(expected)
  yield* (yield* EndpointRepository).remove(endpoint.id)
  expect(yield* signed).toEqual(expected)
})
