import { join } from "node:path"
import { Effect, Schedule, Scope } from "effect"
import { startService } from "./startService.ts"

/** The services' settings that are passed on from the sandbox's environment. */
const PASSED_SETTINGS = ["LOG_LEVEL", "WEBHOOK_RETRY_DELAYS", "DOCS_URL", "OTEL_EXPORTER_OTLP_ENDPOINT", "NODE_OPTIONS"]

/**
 * Runs the API, the worker and the console until the scope closes, and waits until the API and the console respond. In the result, `failed` fails when the
 * sandbox gives a service up, and `incidents` describes the services' failures.
 */
export const startServices = Effect.fnUntraced(function* (options: {
  /** The folder of the logs. */
  readonly folder: string
  readonly baseUrl: string
  readonly consoleUrl: string
  readonly smtpUrl: string
  /** The environment variables of all services. */
  readonly environment: Readonly<Record<string, string>>
}) {
  const { folder, baseUrl, consoleUrl, smtpUrl } = options
  const host = new URL(baseUrl).hostname
  const environment = {
    DEPLOYMENT: "development",
    PUBLIC_BASE_URL: baseUrl,
    ...Object.fromEntries(PASSED_SETTINGS.map((name) => [name, process.env[name] ?? ""])),
    ...options.environment,
  }
  const outgoing = {
    SMTP_URL: smtpUrl,
    MAIL_FROM: "Outreach sandbox <outreach@sandbox.test>",
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
  }
  const settings = {
    API: { HOST: host, PORT: new URL(baseUrl).port, ADMIN_PORT: "0" },
    worker: { ...outgoing, DRAIN_SECONDS: "2", ADMIN_PORT: "0" },
    console: { ...outgoing, HOST: host, PORT: new URL(consoleUrl).port, CONSOLE_URL: consoleUrl, ADMIN_PORT: "0" },
  }
  // Closed in parallel, so that stopping takes as long as the slower service.
  const scope = yield* Scope.fork(yield* Effect.scope, "parallel")
  let up = false
  const services = yield* Effect.forEach(Object.entries(settings), ([name, own]) =>
    startService(name, {
      ...MODULES[name as keyof typeof settings],
      environment: { ...environment, ...own },
      log: join(folder, `${name.toLowerCase()}.log`),
      isUp: () => up,
    }).pipe(Scope.provide(scope)),
  )
  const failed = Effect.raceAllFirst(services.map((service) => service.failed))
  const responding = Effect.forEach([`${baseUrl}/v1/health`, `${consoleUrl}/sign-in`], waitUntilResponding, {
    concurrency: "unbounded",
    discard: true,
  })
  yield* Effect.raceFirst(responding, failed)
  up = true
  return { failed, incidents: () => services.flatMap(({ incident }) => incident() ?? []) }
})

/** The main module of each service, and what is loaded before it. */
const MODULES = {
  API: { main: import.meta.resolve("@outreach/api/main") },
  worker: { main: import.meta.resolve("@outreach/worker/main") },
  console: {
    main: import.meta.resolve("@outreach/console/main"),
    loader: import.meta.resolve("@outreach/console/compileJsx"),
  },
} as const

const waitUntilResponding = (url: string) =>
  Effect.tryPromise(() => fetch(url, { signal: AbortSignal.timeout(1000) })).pipe(
    Effect.retry(Schedule.spaced("50 millis")),
    Effect.orDie,
  )
