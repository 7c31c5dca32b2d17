import { DatabaseMonitor } from "@outreach/postgres/DatabaseMonitor"
import { runProcess } from "@outreach/process/runProcess"
import { telemetry } from "@outreach/process/telemetry"
import { Effect, Layer } from "effect"
import { ConsoleConfig } from "./ConsoleConfig.ts"
import { console } from "./console.ts"

// If the database was away at the start, its secrets are opened later, and end the process then if the key is wrong.
const serve = Effect.flatMap(DatabaseMonitor, ({ secretsRead }) => Effect.andThen(secretsRead, Effect.never))

runProcess(
  serve.pipe(
    Effect.provide(
      console.pipe(Layer.provide(ConsoleConfig.fromEnvironment), Layer.provide(telemetry("outreach-console"))),
    ),
  ),
)
