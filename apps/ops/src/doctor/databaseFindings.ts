import { formatCounted } from "@outreach/backoffice/format"
import { countCiphertexts, listKeyUses } from "@outreach/backoffice/keys/keysAtRest"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { failed, ok, skipped } from "@outreach/domain/operators/Finding"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { Effect, Result } from "effect"
import { Target } from "../Target.ts"

export const secretsKeyFinding = Effect.gen(function* () {
  const { secretsKey } = yield* Target
  const stored = yield* countCiphertexts
  const keys = yield* Effect.result(secretsKey)
  if (Result.isFailure(keys)) {
    return skipped(`SECRETS_KEY cannot be read here, so ${formatCounted(stored, "stored secret")} were not opened.`)
  }
  if (stored === 0) return ok("SECRETS_KEY is valid, and no secret is stored yet.")
  const listed = listKeyUses(() => Effect.void)
  const uses = yield* Effect.provideService(listed, SecretCipher, SecretCipher.make(keys.success))
  const under = (isMeant: (keyId: string | null) => boolean) =>
    uses.reduce((sum, { keyId, ciphertexts }) => sum + (isMeant(keyId) ? ciphertexts : 0), 0)
  const closed = under((keyId) => keyId === null)
  if (closed > 0) {
    return failed(
      `SECRETS_KEY does not decrypt ${closed} of ${formatCounted(stored, "stored secret")}.`,
      "Add the key that encrypted them; see docs/keys.md. Webhooks of their organizations cannot be signed.",
    )
  }
  const older = under((keyId) => keyId !== keys.success[0].id)
  return ok(
    `SECRETS_KEY opens each of ${formatCounted(stored, "stored secret")}${older > 0 ? `, ${older} of them with an older key` : ""}.`,
  )
})

export const enabledEndpoints = Effect.gen(function* () {
  const repository = yield* EndpointRepository
  const endpoints = (yield* repository.list()).filter(({ enabled }) => enabled)
  return yield* Effect.forEach(endpoints, ({ id, organizationId }) =>
    Effect.map(repository.address(id), (url) => ({ id, organizationId, url })),
  )
})
