import type { Endpoint } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import type { StandbySettings } from "@outreach/postgres/connection/databaseSettings"
import { DatabaseInspection } from "@outreach/postgres/DatabaseInspection"
import { makeDatabaseFault } from "@outreach/postgres/databaseFault"
import { databaseLayer } from "@outreach/postgres/databaseLayer"
import { DeliveryGauges } from "@outreach/postgres/deliveries/DeliveryGauges"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { describeDatabaseError } from "@outreach/postgres/describeDatabaseError"
import { countCiphertexts, listKeyUses } from "@outreach/postgres/keysAtRest"
import { historyFault, readPrimary, readStandby, STANDBY_FAULTS } from "@outreach/postgres/standby/standing"
import { Clock, Duration, Effect, Option, Redacted, Result, Schedule } from "effect"
import { formatCount } from "../output/format.ts"
import { Target } from "../Target.ts"
import { failed, ok, skipped, warning } from "./Finding.ts"

const MIN_VERSION = 150_000

/** How far clocks may be apart. Times of events are the database's; those in logs are each machine's own. */
const MAX_SKEW_MS = 2000
/** As the alert on it. */
const MAX_AHEAD_SECONDS = 60

export const connectionFinding = Effect.gen(function* () {
  const { version, versionNumber, tls, isLocal } = yield* (yield* DatabaseInspection).readConnection
  const server = `PostgreSQL ${version.split(" ")[0]}`
  if (versionNumber < MIN_VERSION) return failed(`The server is ${server}.`, "Upgrade it to PostgreSQL 15 or later.")
  if (tls !== null) return ok(`${server} answers, and the connection is encrypted by ${tls}.`)
  return isLocal
    ? ok(`${server} answers on this machine; the connection is not encrypted.`)
    : warning(
        `${server} answers, and the connection is not encrypted.`,
        "Add sslmode=verify-full to DATABASE_URL, and let the server offer TLS.",
      )
})

// The keys have a check of their own.
const anyKey = { ...SecretCipher.withoutKey, decrypt: () => Redacted.make("") }

export const schemaFinding = Effect.gen(function* () {
  const fault = yield* yield* Effect.provideService(makeDatabaseFault("10 seconds"), SecretCipher, anyKey)
  return fault === undefined
    ? ok("The schema is that of this release, and the database takes writes.")
    : failed(`The processes are not ready: ${fault.advice} (${fault.code}).`, "Mend it; `/readyz` says the same.")
})

export const roleFinding = Effect.gen(function* () {
  const role = yield* (yield* DatabaseInspection).readRole
  const owned = `it owns ${role.ownedTables} of ${formatCount(role.tables, "table")}`
  if (role.missingRights.length > 0) {
    return failed(
      `The role ${role.name} lacks ${formatCount(role.missingRights.length, "right")} of its kind: ${role.missingRights.slice(0, 5).join(", ")}.`,
      "Run `ops migrate` as the owner of the tables, which gives each role its rights.",
    )
  }
  if (role.kinds.length === 0 && role.unreadableTables.length > 0) {
    return failed(
      `The role ${role.name} cannot read ${formatCount(role.unreadableTables.length, "table")}: ${role.unreadableTables.slice(0, 5).join(", ")}.`,
      "Run `ops migrate --grant-to` as the owner of the tables, or name the right role in DATABASE_URL.",
    )
  }
  if (role.isSuperuser || role.isPowerful) {
    return warning(
      `The role ${role.name} ${role.isSuperuser ? "is a superuser" : "may create roles or databases, or bypasses row security"}; ${owned}.`,
      "Give the processes a role without these rights.",
    )
  }
  if (role.hasRoles && role.ownedTables > 0) {
    return warning(
      `The role ${role.name} owns tables, and the database has roles that own none: ${owned}.`,
      "Leave it to `ops migrate`; let the processes and the operators connect with roles of their own.",
    )
  }
  const rights = role.kinds.length > 0 ? `has the rights of ${role.kinds.join(" and ")}` : "reads every table"
  const readsHorizon = role.kinds.length === 0 || role.kinds.some((kind) => kind === "worker" || kind === "operator")
  return role.isMonitor || !readsHorizon
    ? ok(`The role ${role.name} ${rights}; ${owned}.`)
    : warning(
        `The role ${role.name} ${rights}; ${owned}. It sees no transaction of other roles, so the age of the horizon may be too low.`,
        `Run \`grant pg_monitor to "${role.name}"\`.`,
      )
})

export const clockFinding = Effect.gen(function* () {
  const { readConnection } = yield* DatabaseInspection
  const before = yield* Clock.currentTimeMillis
  const { now } = yield* readConnection
  const after = yield* Clock.currentTimeMillis
  // The server read its clock between the two.
  const skew = Math.max(0, before - now, now - after)
  const { clockAheadSeconds } = yield* (yield* DeliveryGauges).readState
  const said = `The clocks of the database and of this machine are ${formatSeconds(skew / 1000)} apart`
  if (clockAheadSeconds > MAX_AHEAD_SECONDS) {
    return warning(
      `${said}, and the clock of an organization is ${formatSeconds(clockAheadSeconds)} ahead.`,
      "See docs/operations.md#an-organizations-clock-is-ahead.",
    )
  }
  return skew > MAX_SKEW_MS ? warning(`${said}.`, "See to the time synchronisation of both machines.") : ok(`${said}.`)
})

const formatSeconds = (seconds: number): string => `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`

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
    applicationName: "outreach-ops",
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
      "Reads go to the primary meanwhile. Correct the address, or start the standby.",
    )
  }
  const fault = Option.isNone(read.success) ? "lag" : historyFault(primary, read.success.value)
  return fault === undefined
    ? ok(
        `The standby of DATABASE_READ_URL replayed what the primary has written within ${formatSeconds(Duration.toSeconds(took))}.`,
      )
    : failed(
        `The API does not read from DATABASE_READ_URL: ${STANDBY_FAULTS[fault]}.`,
        "Reads go to the primary meanwhile; see docs/operations.md#the-standby-is-not-read-from.",
      )
})

/** Lists the endpoints that webhooks go to. */
export const enabledEndpoints = Effect.gen(function* () {
  const endpoints = yield* (yield* EndpointRepository).list()
  return endpoints.filter(({ enabled }) => enabled) as ReadonlyArray<Endpoint>
})
