import { join } from "node:path"
import { Effect, Fiber, Schedule } from "effect"
import { IS_CLONE } from "./commands.ts"
import { runService } from "./runService.ts"

/** The services' settings that are passed on from the sandbox's environment. */
const PASSED_SETTINGS = ["LOG_LEVEL", "WEBHOOK_RETRY_DELAYS", "DOCS_URL", "OTEL_EXPORTER_OTLP_ENDPOINT", "NODE_OPTIONS"]

/**
 * Runs the API, the worker and the console until the scope closes, and waits until the API and the console respond. Returns an effect that fails as soon
 * as one of them has failed.
 */
export const startServices = Effect.fnUntraced(function* (options: {
  /** The folder of the logs. */
  readonly folder: string
  readonly baseUrl: string
  readonly consoleUrl: string
  readonly smtpUrl: string
  /** The environment variables of all services. */
  readonly environment: Readonly<Record<string, string>>
  /** Called with a description of each restart. */
  readonly onRestart: (description: string) => void
}) {
  const { folder, baseUrl, consoleUrl, smtpUrl, onRestart } = options
  const host = new URL(baseUrl).hostname
  const environment = {
    DEPLOYMENT: "development",
    PUBLIC_BASE_URL: baseUrl,
    ADMIN_PORT: "0",
    ...Object.fromEntries(PASSED_SETTINGS.map((name) => [name, process.env[name] ?? ""])),
    ...options.environment,
  }
  const outgoing = {
    SMTP_URL: smtpUrl,
    MAIL_FROM: "Outreach sandbox <outreach@sandbox.test>",
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
  }
  const services = {
    API: { main: import.meta.resolve("#main/api"), own: { HOST: host, PORT: new URL(baseUrl).port } },
    worker: { main: import.meta.resolve("#main/worker"), own: { ...outgoing, DRAIN_SECONDS: "2" } },
    console: {
      main: import.meta.resolve("#main/console"),
      // Its sources contain JSX.
      ...(IS_CLONE && { loader: import.meta.resolve("@outreach/console/compileJsx") }),
      own: { ...outgoing, HOST: host, PORT: new URL(consoleUrl).port, CONSOLE_URL: consoleUrl },
    },
  }
  const runs = Object.entries(services).map(([name, { own, ...modules }]) => {
    const log = join(folder, `${name.toLowerCase()}.log`)
    return runService(name, { ...modules, environment: { ...environment, ...own }, log, onRestart })
  })
  const running = yield* Effect.forkScoped(Effect.raceAllFirst(runs))
  const responding = Effect.forEach([`${baseUrl}/v1/health`, `${consoleUrl}/sign-in`], waitUntilResponding, {
    concurrency: "unbounded",
    discard: true,
  })
  yield* Effect.raceFirst(responding, Fiber.join(running))
  return Fiber.join(running)
})

const waitUntilResponding = (url: string) =>
  Effect.tryPromise(() => fetch(url, { signal: AbortSignal.timeout(1000) })).pipe(
    Effect.retry(Schedule.spaced("50 millis")),
    Effect.orDie,
  )
