import { join } from "node:path"
import { Effect, Schedule, Scope } from "effect"
import { startService } from "./startService.ts"

/** The settings of the services that may be given from outside. */
const FROM_OUTSIDE = ["LOG_LEVEL", "WEBHOOK_RETRY_DELAYS", "DOCS_URL", "OTEL_EXPORTER_OTLP_ENDPOINT", "NODE_OPTIONS"]

/** Starts the API and the worker until the scope closes, and waits until the API responds. Returns `failed`, which fails when one cannot be kept running, and what happened to them. */
export const startServices = Effect.fnUntraced(function* (options: {
  /** Where their logs go. */
  readonly folder: string
  readonly port: number
  readonly baseUrl: string
  readonly smtpUrl: string
  /** What both need. */
  readonly environment: Readonly<Record<string, string>>
}) {
  const { folder, port, baseUrl, smtpUrl } = options
  const environment = {
    DEPLOYMENT: "development",
    PUBLIC_BASE_URL: baseUrl,
    ...Object.fromEntries(FROM_OUTSIDE.map((name) => [name, process.env[name] ?? ""])),
    ...options.environment,
  }
  // Side by side, so that stopping takes as long as the slower of the two.
  const services = yield* Scope.fork(yield* Effect.scope, "parallel")
  let up = false
  const isUp = () => up
  const api = yield* startService("API", {
    main: import.meta.resolve("@outreach/api/main"),
    environment: { ...environment, HOST: "127.0.0.1", PORT: String(port) },
    log: join(folder, "api.log"),
    isUp,
  }).pipe(Scope.provide(services))
  const worker = yield* startService("worker", {
    main: import.meta.resolve("@outreach/worker/main"),
    environment: {
      ...environment,
      SMTP_URL: smtpUrl,
      MAIL_FROM: "Outreach sandbox <outreach@sandbox.test>",
      WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
      DRAIN_SECONDS: "2",
      ADMIN_PORT: "0",
    },
    log: join(folder, "worker.log"),
    isUp,
  }).pipe(Scope.provide(services))

  const failed = Effect.raceFirst(api.failed, worker.failed)
  yield* Effect.raceFirst(untilAnswering(baseUrl), failed)
  up = true
  const incidents = () => [api, worker].flatMap(({ incident }) => incident() ?? [])
  return { failed, incidents }
})

const untilAnswering = (baseUrl: string) =>
  Effect.tryPromise(() => fetch(`${baseUrl}/v1/health`, { signal: AbortSignal.timeout(1000) })).pipe(
    Effect.retry(Schedule.spaced("50 millis")),
    Effect.orDie,
  )
