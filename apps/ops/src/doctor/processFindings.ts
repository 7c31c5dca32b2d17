import { DatabaseInspection } from "@outreach/backoffice/inspection/DatabaseInspection"
import { roleFinding } from "@outreach/backoffice/inspection/databaseFindings"
import { type Finding, failed, ok, skipped, warning } from "@outreach/domain/operators/Finding"
import type { DatabaseAddress } from "@outreach/postgres-connection/DatabaseAddress"
import { databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { databaseSettings } from "@outreach/postgres-connection/databaseSettings"
import { applicationName } from "@outreach/process/release"
import { settingText } from "@outreach/process/setting"
import { ConfigProvider, Effect, Layer, Result } from "effect"
import { describeFailure } from "../output/reportFailure.ts"
import type { ProcessEnvironments } from "./processEnvironments.ts"
import { type ReaderName, readOn, SETTINGS_READERS } from "./processSettings.ts"
import { settingFindings } from "./settingFindings.ts"

type Environments = ProcessEnvironments["environments"]

/** Does something for each process, with its environment. */
const forEachProcess = <A, E, R>(environments: Environments, look: (name: ReaderName) => Effect.Effect<A, E, R>) =>
  Effect.forEach(environments, ([name, env]) =>
    look(name).pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
      Effect.map((found) => ({ name, title: SETTINGS_READERS[name].title as string, found })),
    ),
  )

/** Reads the settings of each process with its own environment, which must be whole. */
export const processSettingFindings = (environments: Environments): Effect.Effect<ReadonlyArray<Finding>> =>
  Effect.map(
    forEachProcess(environments, (name) => settingFindings(SETTINGS_READERS[name], failed)),
    (all) => all.flatMap(({ found }) => found),
  )

/** Settings that belong to one process, one machine or one role. All others that two processes read have one value. */
const MAY_DIFFER =
  /^(?:(?:DATABASE|ADMIN|LOG|OTEL)_\w+|HOST|PORT|TRUST_PROXY|CLOCK_SKEW_SECONDS|CONNECTIONS_PER_ADDRESS|UNAUTHENTICATED_LIMIT)$/

/** Compares the settings that processes share, and where their database is. */
export const agreementFindings = Effect.fnUntraced(function* (environments: Environments) {
  const read = yield* forEachProcess(environments, (name) =>
    Effect.gen(function* () {
      const texts = new Map<string, string>()
      for (const [setting, declared] of (yield* readOn(SETTINGS_READERS[name])).declarations) {
        if (MAY_DIFFER.test(setting)) continue
        const text = yield* Effect.orElseSucceed(settingText(declared), () => "")
        const byDefault = typeof declared.default === "string" ? declared.default : ""
        // What is required and missing was said of the settings.
        if (text !== "" || declared.default !== undefined) texts.set(setting, text || byDefault)
      }
      const database = yield* Effect.result(databaseSettings)
      if (Result.isSuccess(database)) texts.set("DATABASE_URL", placeOf(database.success.directAddress))
      return texts
    }),
  )
  const names = [...new Set(read.flatMap(({ found }) => [...found.keys()]))]
  const differing = names.flatMap((setting) => {
    const readers = read.filter(({ found }) => found.has(setting))
    const [first] = readers
    const others = readers.filter(({ found }) => found.get(setting) !== first!.found.get(setting))
    if (others.length === 0) return []
    const what = setting === "DATABASE_URL" ? "The server or the database of DATABASE_URL" : setting
    return [
      failed(
        `${what} of the ${first!.title} differs from that of the ${others.map(({ title }) => title).join(" and the ")}.`,
        "Give all of them one value, in the file that they share.",
      ),
    ]
  })
  return differing.length > 0 ? differing : [ok(`The processes agree on the ${names.length} settings that they share.`)]
})

const placeOf = ({ hosts, database }: DatabaseAddress): string => JSON.stringify([hosts, database ?? null])

/** Connects as each process does, and looks at the rights of its role. */
export const roleFindings = Effect.fnUntraced(function* (environments: Environments) {
  const looked = yield* forEachProcess(environments, (name) =>
    Effect.catch(lookAtRole(name), (finding) => Effect.succeed({ role: null, finding })),
  )
  const shared = looked.flatMap(({ name, title, found: { role } }, i) => {
    const other = looked
      .slice(0, i)
      .find(({ name: before, found }) => role !== null && found.role === role && kindOf(before) !== kindOf(name))
    return other === undefined
      ? []
      : [
          warning(
            `The ${other.title} and the ${title} connect with the same role, ${role}.`,
            "Give each a role of its own; see docs/deployment.md#roles.",
          ),
        ]
  })
  return [...looked.map(({ found }) => found.finding), ...shared]
})

const kindOf = (name: ReaderName) => SETTINGS_READERS[name].kind

const lookAtRole = Effect.fnUntraced(function* (name: ReaderName) {
  const { title, kind } = SETTINGS_READERS[name]
  const database = yield* Effect.mapError(databaseSettings, () =>
    skipped(`Whom the ${title} connects as is not known without its DATABASE_URL.`),
  )
  const connection = databaseLayer({
    database,
    applicationName: applicationName("outreach-ops"),
    maxConnections: 1,
    connectTimeout: "5 seconds",
  })
  return yield* Effect.gen(function* () {
    const role = yield* (yield* DatabaseInspection).readRole
    const connects = `The ${title} connects as ${role.name}`
    const judged = (finding: Finding) => ({ role: role.name, finding })
    if (kind === null) {
      return judged(
        role.ownedTables === role.tables || role.isSuperuser
          ? ok(`${connects}, which owns ${role.ownedTables} of ${role.tables} tables.`)
          : failed(
              `${connects}, which owns only ${role.ownedTables} of ${role.tables} tables.`,
              "Let DATABASE_URL of the migration name the owner of the tables.",
            ),
      )
    }
    if (role.hasRoles && !role.kinds.includes(kind)) {
      const is =
        role.ownedTables > 0
          ? `owns ${role.ownedTables} of ${role.tables} tables`
          : `has the rights of ${role.kinds.join(" and ") || "none"}`
      return judged(
        failed(
          `${connects}, which ${is}, not those of ${kind}.`,
          `Let its DATABASE_URL name the role of the kind ${kind}.`,
        ),
      )
    }
    const finding = yield* roleFinding
    return judged({ ...finding, found: finding.found.replace(`The role ${role.name}`, `${connects}, which`) })
  }).pipe(
    Effect.provide(Layer.provideMerge(DatabaseInspection.layer, connection)),
    Effect.timeout("10 seconds"),
    Effect.catchCause((cause) =>
      Effect.fail(
        failed(
          `The role of the ${title} could not be looked at: ${describeFailure(cause).message.split("\n")[0]}`,
          "Correct its DATABASE_URL, or mend the database.",
        ),
      ),
    ),
  )
})
