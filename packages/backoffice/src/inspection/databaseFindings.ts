import { activeAlerts, runbookOf } from "@outreach/domain/operators/alerts"
import { type Finding, failed, ok, warning } from "@outreach/domain/operators/Finding"
import { isUnusable, makeDatabaseFault } from "@outreach/postgres/databaseFault"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { removedFunctions } from "@outreach/postgres/migrations/planMigrations"
import { readFacts } from "@outreach/postgres/operators/FactReader"
import { readSqlFiles } from "@outreach/postgres/readSqlFiles"
import { Cause, Clock, Effect } from "effect"
import { describeAlert, formatCounted, formatMillis } from "../format.ts"
import { DatabaseInspection, type Standbys } from "./DatabaseInspection.ts"

const MIN_VERSION = 150_000

/** Maximum difference between clocks. Events have the database's times, logs each machine's. */
const MAX_SKEW_MS = 2000

/** Checks the server's version, and that the connection is encrypted. */
const connectionFinding = Effect.gen(function* () {
  const { version, versionNumber, tls, isLocal } = yield* (yield* DatabaseInspection).readConnection
  const server = `PostgreSQL ${version.split(" ")[0]}`
  if (versionNumber < MIN_VERSION) return failed(`The server is ${server}.`, "Upgrade it to PostgreSQL 15 or later.")
  if (tls !== null) return ok(`${server} responds, connection encrypted with ${tls}.`)
  return isLocal
    ? ok(`${server} responds on this machine, connection not encrypted.`)
    : warning(
        `${server} responds, connection not encrypted.`,
        "Add sslmode=verify-full to DATABASE_URL, and enable TLS on the server.",
      )
})

// Keys have their own check.
const anyKey = { ...SecretCipher.failing(undefined), keyIdOf: () => "any" }

/** Checks that the schema fits this release, and that the database accepts writes. */
export const schemaFinding = Effect.gen(function* () {
  const check = yield* Effect.provideService(makeDatabaseFault("10 seconds"), SecretCipher, anyKey)
  const fault = yield* check()
  if (fault !== undefined) {
    const unready = isUnusable(fault) ? "processes" : "workers"
    return failed(
      `The ${unready} are not ready: ${fault.advice} (${fault.code}).`,
      "Fix it. `/readyz` reports the same fault.",
    )
  }
  const removed = removedFunctions(yield* readSqlFiles(), yield* (yield* DatabaseInspection).readSqlFiles)
  return removed.length === 0
    ? ok("The schema matches this release, and the database accepts writes.")
    : warning(
        `The schema is from a newer release without these functions of this release: ${removed.slice(0, 5).join(", ")}.`,
        "If the log contains 42883, go back at most one release, or upgrade again.",
      )
})

/** Checks that the connecting role has the rights of its kind and no more. */
export const roleFinding = Effect.gen(function* () {
  const role = yield* (yield* DatabaseInspection).readRole
  const owned = `it owns ${role.ownedTables} of ${formatCounted(role.tables, "table")}`
  if (role.missingRights.length > 0) {
    return failed(
      `The role ${role.name} lacks ${formatCounted(role.missingRights.length, "right")} of its kind: ${role.missingRights.slice(0, 5).join(", ")}.`,
      "Migrate as the owner of the tables, which gives each role its rights.",
      ["migrate"],
    )
  }
  if (role.needlessRights.length > 0 && role.ownedTables === 0) {
    return failed(
      `The role ${role.name} has ${formatCounted(role.needlessRights.length, "right")} that its kind does not need: ${role.needlessRights.slice(0, 5).join(", ")}.`,
      "Migrate as the owner of the tables to revoke them.",
      ["migrate"],
    )
  }
  if (role.kinds.length === 0 && role.unreadableTables.length > 0) {
    return failed(
      `The role ${role.name} cannot read ${formatCounted(role.unreadableTables.length, "table")}: ${role.unreadableTables.slice(0, 5).join(", ")}.`,
      "Grant the rights as the owner of the tables, or name the right role in DATABASE_URL.",
      ["migrate", "--grant-to", `operator=${role.name}`],
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
      "Use it only to migrate. Processes and operators need separate roles.",
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

/** Compares the clocks of the database, this machine and the organizations. */
export const clockFinding = Effect.gen(function* () {
  const { readConnection, readClock } = yield* DatabaseInspection
  const before = yield* Clock.currentTimeMillis
  const { now } = yield* readConnection
  const after = yield* Clock.currentTimeMillis
  // The server read its clock between the two.
  const skew = Math.max(0, before - now, now - after)
  const { doubt } = yield* readClock
  const [alert] = activeAlerts(yield* readFacts(["clockAheadSeconds"]))
  if (doubt !== null) {
    return warning(
      `The workers don't trust the database's clock, so no data is deleted or erased by age: ${doubt}.`,
      `See ${runbookOf({ name: "OutreachClockDoubted" })}.`,
    )
  }
  if (alert !== undefined) return warning(describeAlert(alert), `See ${runbookOf(alert)}.`)
  const found = `The clocks of the database and of this machine are ${formatMillis(skew)} apart.`
  return skew > MAX_SKEW_MS ? warning(found, "Check the time synchronization of both machines.") : ok(found)
})

/** Compares `FAILOVER_SECONDS`, the time until workers resume after a promotion, with the standbys that could be promoted. */
export const failoverFinding = (failoverSeconds: number) =>
  Effect.map(
    DatabaseInspection.use(({ readStandbys }) => readStandbys),
    (standbys) => explainFailover(failoverSeconds, standbys),
  )

export const explainFailover = (failoverSeconds: number, server: Standbys): Finding => {
  const { synchronousStandbys, commitsWait, standbys } = server
  if (commitsWait === true) {
    return failed(
      "Commits wait for a synchronous standby that isn't connected, so writes are blocked.",
      "Start the standby, or take it out of synchronous_standby_names; see docs/high-availability.md.",
    )
  }
  if (failoverSeconds === 0) {
    return synchronousStandbys === "" || standbys?.some(({ syncState }) => syncState === "async")
      ? ok("FAILOVER_SECONDS is 0: workers wait after a promotion, because the standby may be asynchronous.")
      : warning(
          "FAILOVER_SECONDS is 0 or isn't set here, although the standbys are synchronous: after a failover, the workers wait for `ops restores finish --promoted`.",
          "Set it to more than your failovers take, such as 120; see docs/high-availability.md.",
        )
  }
  if (standbys === null) {
    return warning(
      "FAILOVER_SECONDS is set, and this role may not see which standbys are synchronous.",
      "Grant it pg_monitor, and run the check again.",
    )
  }
  const behind = standbys.filter(({ syncState }) => syncState === "async").map(({ name }) => name)
  if (synchronousStandbys !== "" && behind.length === 0) {
    return ok("FAILOVER_SECONDS is set, and every connected standby is synchronous.")
  }
  const found = behind.length > 0 ? `asynchronous: ${behind.join(", ")}` : "not in synchronous_standby_names"
  return warning(
    `FAILOVER_SECONDS is set, and a standby that may be promoted is ${found}. Promoted, it lacks the last commits, and workers would send again without asking.`,
    "Set FAILOVER_SECONDS=0, or make every standby synchronous; see docs/high-availability.md#what-an-asynchronous-standby-costs.",
  )
}

/** Reports the times of a wrong database clock. */
export const clockFaultsFinding = Effect.gen(function* () {
  const { faults } = yield* (yield* DatabaseInspection).readClock
  return faults.length > 0
    ? warning(
        `The database's clock was wrong: ${faults.slice(0, 3).join(", ")}${faults.length > 3 ? ", …" : ""} (UTC). Rows with these times aren't deleted by age.`,
        "See docs/operations.md#rows-stamped-by-a-wrong-clock.",
      )
    : ok("No rows have times of a wrong clock.")
})

/** The checks of the database by their names in `ops doctor`. */
export const DATABASE_CHECKS = {
  database: connectionFinding,
  schema: schemaFinding,
  role: roleFinding,
  clock: clockFinding,
  clock_faults: clockFaultsFinding,
}

type Check = (typeof DATABASE_CHECKS)[keyof typeof DATABASE_CHECKS]
const CHECKS: ReadonlyArray<readonly [check: string, finding: Effect.Effect<Finding, never, Effect.Services<Check>>]> =
  Object.entries(DATABASE_CHECKS)

const UNCHECKED = failed("The check failed.", "See the database's log.", ["doctor"])

/** Checks the database. A check that can't be made or times out is a failed one, and doesn't affect the others. */
export const checkDatabase = Effect.forEach(CHECKS, ([check, finding]) =>
  finding.pipe(
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.interrupt
        : Effect.as(Effect.logWarning("failed to check the database"), UNCHECKED),
    ),
    Effect.map((found) => ({ check, ...found })),
  ),
)
