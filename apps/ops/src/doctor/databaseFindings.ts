import { formatSeconds } from "@outreach/backoffice/inspection/databaseFindings"
import { countCiphertexts, listKeyUses } from "@outreach/backoffice/keys/keysAtRest"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { failed, ok, skipped } from "@outreach/domain/operators/Finding"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { readPrimary, readStandby } from "@outreach/postgres/standby/standing"
import { databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import type { StandbySettings } from "@outreach/postgres-connection/databaseSettings"
import { describeDatabaseError } from "@outreach/postgres-connection/describeDatabaseError"
import { historyFault, STANDBY_FAULTS } from "@outreach/postgres-connection/historyFault"
import { applicationName } from "@outreach/process/release"
import { Duration, Effect, Option, Result, Schedule } from "effect"
import { formatCount } from "../output/Output.ts"
import { Target } from "../Target.ts"

export const secretsKeyFinding = Effect.gen(function* () {
  const { secretsKey } = yield* Target
  const stored = yield* countCiphertexts
  const keys = yield* Effect.result(secretsKey)
  if (Result.isFailure(keys)) {
    return skipped(`SECRETS_KEY cannot be read here, so ${formatCount(stored, "stored secret")} were not opened.`)
  }
  if (stored === 0) return ok("SECRETS_KEY is valid, and no secret is stored yet.")
  const uses = yield* Effect.provideService(
    listKeyUses(() => Effect.void),
    SecretCipher,
    SecretCipher.make(keys.success),
  )
  const under = (isMeant: (keyId: string | null) => boolean) =>
    uses.reduce((sum, { keyId, ciphertexts }) => sum + (isMeant(keyId) ? ciphertexts : 0), 0)
  const closed = under((keyId) => keyId === null)
  if (closed > 0) {
    return failed(
      `SECRETS_KEY does not open ${closed} of ${formatCount(stored, "stored secret")}.`,
      "Add the key that encrypted them; see docs/keys.md. Webhooks of their organizations cannot be signed.",
    )
  }
  const older = under((keyId) => keyId !== keys.success[0].id)
  return ok(
    `SECRETS_KEY opens each of ${formatCount(stored, "stored secret")}${older > 0 ? `, ${older} of them with an older key` : ""}.`,
  )
})

/** Compares the standby of `DATABASE_READ_URL` with the primary, as the API does, and waits until it has replayed what the primary has written. */
export const standbyFinding = Effect.fnUntraced(function* ({ database, maxLag }: StandbySettings) {
  const primary = yield* readPrimary
  const connection = databaseLayer({
    database,
    applicationName: applicationName("outreach-ops"),
    maxConnections: 1,
    connectTimeout: "5 seconds",
  })
  const [took, read] = yield* readStandby.pipe(
    Effect.repeat({
      until: (standby) =>
        historyFault(primary, standby) !== undefined || (standby.position ?? 0) >= (primary.position ?? 0),
      schedule: Schedule.spaced("100 millis"),
    }),
    Effect.provide(connection),
    Effect.timeoutOption(Duration.min(maxLag, Duration.seconds(9))),
    Effect.result,
    Effect.timed,
  )
  if (Result.isFailure(read)) {
    return failed(
      `The standby of DATABASE_READ_URL does not answer (${describeDatabaseError(read.failure).code}).`,
      "Until it does, reads go to the primary. Correct the address, or start the standby.",
    )
  }
  const fault = Option.isNone(read.success) ? "lag" : historyFault(primary, read.success.value)
  return fault === undefined
    ? ok(
        `The standby of DATABASE_READ_URL replayed what the primary has written within ${formatSeconds(Duration.toSeconds(took))}.`,
      )
    : failed(
        `The API does not read from DATABASE_READ_URL: ${STANDBY_FAULTS[fault]}.`,
        "Reads go to the primary instead; see docs/operations.md#the-standby-is-not-read-from.",
      )
})

export const enabledEndpoints = Effect.gen(function* () {
  const repository = yield* EndpointRepository
  const endpoints = (yield* repository.list()).filter(({ enabled }) => enabled)
  return yield* Effect.forEach(endpoints, ({ id, organizationId }) =>
    Effect.map(repository.address(id), (url) => ({ id, organizationId, url })),
  )
})
