import { setting } from "@outreach/process/setting"
import { cursorKey, databaseUrl, deployment, httpUrl, publicBaseUrl, secretsKey } from "@outreach/process/settings"
import { Context, Effect, Layer, type Redacted } from "effect"

/** `HOST`: the address to listen on. Default `127.0.0.1`. */
const host = setting("HOST", {
  expected: "a host name or an IP address",
  parse: (text) => (/^[\w.:-]+$/.test(text) ? text : undefined),
  default: "127.0.0.1",
})

/** `PORT`: the port to listen on; 0 takes any that is free. Default 8080. */
const port = setting("PORT", {
  expected: "a port from 0 to 65535",
  parse: (text) => (/^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined),
  default: "8080",
})

/** What the API reads from its environment, beside what `telemetry` reads. */
export class ApiConfig extends Context.Service<
  ApiConfig,
  {
    readonly databaseUrl: Redacted.Redacted
    readonly host: string
    readonly port: number
    readonly publicBaseUrl: string
    readonly deployment: "production" | "staging" | "development"
    /** Where the guides are published; the links of errors lead there. `DOCS_URL`, default `PUBLIC_BASE_URL` and `/docs`. */
    readonly docsUrl: string
    readonly secretsKey: Redacted.Redacted<Uint8Array>
    readonly cursorKey: Redacted.Redacted<Uint8Array>
  }
>()("api/ApiConfig") {
  static readonly fromEnvironment = Layer.effect(
    ApiConfig,
    Effect.gen(function* () {
      const baseUrl = yield* publicBaseUrl
      return {
        databaseUrl: yield* databaseUrl,
        host: yield* host,
        port: yield* port,
        publicBaseUrl: baseUrl,
        deployment: yield* deployment,
        docsUrl: yield* httpUrl("DOCS_URL", `${baseUrl}/docs`),
        secretsKey: yield* secretsKey,
        cursorKey: yield* cursorKey,
      }
    }),
  )
}
