import {
  configError,
  secretSetting,
  setting,
  settingByProcess,
  textSchema,
  wholeNumber,
} from "@outreach/process/setting"
import { deployment, trueOrFalse } from "@outreach/process/settings"
import { Config, Effect } from "effect"
import { mayBePlaintext, parseDatabaseAddress } from "./DatabaseAddress.ts"
import type { Pooler } from "./DatabaseRoute.ts"

const OptionalAddress = textSchema("a postgres:// address", (text) =>
  text === "none" ? null : parseDatabaseAddress(text),
)

export const databaseUrl = secretSetting("DATABASE_URL", textSchema("a postgres:// address", parseDatabaseAddress), {
  about:
    "address of PostgreSQL 15 or later, or of its pooler, with [the role of the process](deployment.md#roles). See [several hosts](connections.md#several-hosts), [TLS](connections.md#tls) and other parameters",
})

/** Reads the database settings, and rejects those that wouldn't work or aren't safe. */
export const databaseSettings = Config.all({
  databaseUrl,
  listenUrl: secretSetting("DATABASE_LISTEN_URL", OptionalAddress, {
    otherwise: "`DATABASE_URL`",
    about:
      "direct address of the database for notifications and `migrate`, if `DATABASE_URL` is [a pooler in transaction mode](connections.md#a-pooler-in-transaction-mode), such as PgBouncer",
  }),
  clockSkewSeconds: setting("CLOCK_SKEW_SECONDS", wholeNumber(1, 3600, "seconds"), {
    default: "60",
    about:
      "maximum difference between the clocks of database servers that replace each other. After a promotion, restore or move, each organization's first timestamp is ahead of the clock by this much ([why](decisions/0004-timestamps-jump-ahead-after-a-failover.md)). Can differ between processes",
  }),
  allowPlaintext: setting("DATABASE_ALLOW_PLAINTEXT", trueOrFalse, {
    default: "false",
    about: "allows a connection without TLS to a database on another machine in `production`",
  }),
  deployment,
}).pipe(
  Config.mapEffect(
    Effect.fnUntraced(function* ({ databaseUrl, listenUrl, clockSkewSeconds, allowPlaintext, deployment }) {
      const pooler: Pooler = listenUrl === null ? "none" : "transaction"
      if (pooler === "transaction" && databaseUrl.targetSession !== "any") {
        return yield* configError(
          "DATABASE_URL has target_session_attrs, which a pooler in transaction mode does not follow: let the pooler choose the server, and take the parameter away.",
        )
      }
      const mustEncrypt = deployment === "production" && !allowPlaintext
      for (const [name, address] of Object.entries({ DATABASE_URL: databaseUrl, DATABASE_LISTEN_URL: listenUrl })) {
        if (mustEncrypt && address !== null && mayBePlaintext(address)) {
          return yield* configError(
            `${name} may send data unencrypted to another machine, which production refuses. Give it sslmode=verify-full and sslrootcert, or at least sslmode=require, or set DATABASE_ALLOW_PLAINTEXT to true.`,
          )
        }
      }
      return { address: databaseUrl, directAddress: listenUrl ?? databaseUrl, pooler, clockSkewSeconds }
    }),
  ),
)
export type DatabaseSettings = Config.Success<typeof databaseSettings>

export const databaseConnections = settingByProcess("DATABASE_CONNECTIONS", wholeNumber(2, 1000), {
  default: { api: "12", worker: "10", console: "6" },
  about: "maximum number of connections for statements; see [all connections](connections.md#how-many-connections)",
})
