import { configError, secretSetting, setting, textSchema, wholeNumber } from "@outreach/process/setting"
import { deployment, trueOrFalse } from "@outreach/process/settings"
import { Config, Duration, Effect, Schema } from "effect"
import { type DatabaseAddress, mayBePlaintext, parseDatabaseAddress } from "./DatabaseAddress.ts"
import type { Pooler } from "./DatabaseRoute.ts"

export interface DatabaseSettings {
  readonly address: DatabaseAddress
  /** The database itself, past a pooler. */
  readonly directAddress: DatabaseAddress
  readonly pooler: Pooler
  /** How far the clocks of servers that take over from one another may be apart. */
  readonly clockSkewSeconds: number
}

const OptionalAddress = textSchema("a postgres:// address", (text) =>
  text === "none" ? null : parseDatabaseAddress(text),
)

/** What every address is read with. */
const rules = {
  /** `CLOCK_SKEW_SECONDS`: how far the clocks of servers that take over from one another may be apart. Default 60. */
  clockSkewSeconds: setting("CLOCK_SKEW_SECONDS", wholeNumber(1, 3600), "60"),
  /** `DATABASE_ALLOW_PLAINTEXT`: whether production may reach a database on another machine without TLS. Default `false`. */
  allowPlaintext: setting("DATABASE_ALLOW_PLAINTEXT", trueOrFalse, "false"),
  deployment,
}

/** Reads where the database is, and refuses what would not work or is not safe. */
export const databaseSettings: Config.Config<DatabaseSettings> = Config.all({
  /** `DATABASE_URL`: the PostgreSQL database, or the pooler before it. */
  databaseUrl: secretSetting("DATABASE_URL", textSchema("a postgres:// address", parseDatabaseAddress)),
  /** `DATABASE_LISTEN_URL`: the database itself, for connections whose session has to last. Default: `DATABASE_URL`. */
  listenUrl: secretSetting("DATABASE_LISTEN_URL", OptionalAddress, "none"),
  /** `DATABASE_POOLER`: `transaction` where `DATABASE_URL` leads to a pooler that lends connections for one transaction. Default `none`. */
  pooler: setting(
    "DATABASE_POOLER",
    Schema.Literals(["none", "transaction"]).annotate({ expected: "none or transaction" }),
    "none",
  ),
  ...rules,
}).pipe(
  Config.mapEffect(
    Effect.fnUntraced(function* ({ databaseUrl, listenUrl, pooler, clockSkewSeconds, ...rules }) {
      if (pooler === "transaction" && listenUrl === null) {
        return yield* configError(
          "DATABASE_POOLER is transaction, so DATABASE_LISTEN_URL must be the address of the database itself, which is not set.",
        )
      }
      if (pooler === "transaction" && databaseUrl.targetSession !== "any") {
        return yield* configError(
          "DATABASE_URL has target_session_attrs, which a pooler in transaction mode does not follow: let the pooler choose the server, and take the parameter away.",
        )
      }
      yield* refusePlaintext({ DATABASE_URL: databaseUrl, DATABASE_LISTEN_URL: listenUrl }, rules)
      return { address: databaseUrl, directAddress: listenUrl ?? databaseUrl, pooler, clockSkewSeconds }
    }),
  ),
)

export interface StandbySettings {
  readonly database: DatabaseSettings
  readonly maxLag: Duration.Duration
}

/** Reads which standby may be read from; undefined for none. */
export const standbySettings: Config.Config<StandbySettings | undefined> = Config.all({
  /** `DATABASE_READ_URL`: a standby of the database, for reading. Default none. */
  readUrl: secretSetting("DATABASE_READ_URL", OptionalAddress, "none"),
  /** `READ_MAX_LAG_SECONDS`: how far the standby may be behind. Default 5. */
  readMaxLag: setting("READ_MAX_LAG_SECONDS", wholeNumber(1, 3600, "seconds"), "5"),
  ...rules,
}).pipe(
  Config.mapEffect(
    Effect.fnUntraced(function* ({ readUrl, readMaxLag, clockSkewSeconds, ...rules }) {
      if (readUrl === null) return undefined
      yield* refusePlaintext({ DATABASE_READ_URL: readUrl }, rules)
      const database: DatabaseSettings = { address: readUrl, directAddress: readUrl, pooler: "none", clockSkewSeconds }
      return { database, maxLag: Duration.seconds(readMaxLag) }
    }),
  ),
)

const refusePlaintext = Effect.fnUntraced(function* (
  addresses: Readonly<Record<string, DatabaseAddress | null>>,
  { allowPlaintext, deployment }: { readonly allowPlaintext: boolean; readonly deployment: string },
) {
  for (const [name, address] of Object.entries(addresses)) {
    if (address !== null && deployment === "production" && !allowPlaintext && mayBePlaintext(address)) {
      return yield* configError(
        `${name} may send data unencrypted to another machine, which production refuses. Give it sslmode=verify-full and sslrootcert, or at least sslmode=require, or set DATABASE_ALLOW_PLAINTEXT to true.`,
      )
    }
  }
})

/** `DATABASE_CONNECTIONS`: how many connections a process has for its statements, at most. */
export const databaseConnections = (byDefault: number): Config.Config<number> =>
  setting("DATABASE_CONNECTIONS", wholeNumber(2, 1000), String(byDefault))
