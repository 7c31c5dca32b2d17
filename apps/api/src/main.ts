import { DatabaseMonitor } from "@outreach/postgres/DatabaseMonitor"
import { runProcess } from "@outreach/process/runProcess"
import { telemetry } from "@outreach/process/telemetry"
import { Effect, Layer } from "effect"
import { ApiConfig } from "./ApiConfig.ts"
import { api } from "./api.ts"

// If the database was away at the start, its secrets are opened later, and end the process then if the key is wrong.
const serve = Effect.flatMap(DatabaseMonitor, ({ secretsRead }) => Effect.andThen(secretsRead, Effect.never))

runProcess(
  serve.pipe(
    Effect.provide(api.pipe(Layer.provide(ApiConfig.fromEnvironment), Layer.provide(telemetry("outreach-api")))),
  ),
)
