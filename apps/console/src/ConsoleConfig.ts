import type { KeyRing } from "@outreach/domain/KeyRing"
import { wholeNumber } from "@outreach/domain/textSchema"
import {
  type DatabaseSettings,
  databaseConnections,
  databaseSettings,
} from "@outreach/postgres/connection/databaseSettings"
import { setting } from "@outreach/process/setting"
import { adminHost, deployment, Host, HttpUrl, publicBaseUrl, secretsKey } from "@outreach/process/settings"
import { Context, Effect, Layer } from "effect"

/** `CONSOLE_HOST`: the address to listen on. Default `127.0.0.1`. */
const host = setting("CONSOLE_HOST", Host, "127.0.0.1")

/** `CONSOLE_PORT`: the port to listen on; 0 takes any that is free. Default 8090. */
const port = setting("CONSOLE_PORT", wholeNumber(0, 65_535, "a port"), "8090")

/** `CONSOLE_ADMIN_PORT`: the port of `/metrics`, `/readyz` and `/livez`; 0 takes any that is free. Default 9466. */
const adminPort = setting("CONSOLE_ADMIN_PORT", wholeNumber(0, 65_535, "a port"), "9466")

/** What the console reads from its environment, beside what `telemetry` reads. */
export class ConsoleConfig extends Context.Service<
  ConsoleConfig,
  {
    readonly database: DatabaseSettings
    readonly databaseConnections: number
    readonly host: string
    readonly port: number
    readonly adminHost: string
    readonly adminPort: number
    /** Where operators reach the console. `CONSOLE_URL`, default the address that it listens on. */
    readonly consoleUrl: string
    readonly publicBaseUrl: string
    readonly deployment: "production" | "staging" | "development"
    readonly secretsKey: KeyRing
  }
>()("console/ConsoleConfig") {
  static readonly fromEnvironment = Layer.effect(
    ConsoleConfig,
    Effect.gen(function* () {
      const ownHost = yield* host
      const ownPort = yield* port
      return {
        database: yield* databaseSettings,
        databaseConnections: yield* databaseConnections(6),
        host: ownHost,
        port: ownPort,
        adminHost: yield* adminHost,
        adminPort: yield* adminPort,
        consoleUrl: yield* setting("CONSOLE_URL", HttpUrl, `http://127.0.0.1:${ownPort}`),
        publicBaseUrl: yield* publicBaseUrl,
        deployment: yield* deployment,
        secretsKey: yield* secretsKey,
      }
    }),
  )
}
