import { DatabaseMonitor } from "@outreach/postgres/DatabaseMonitor"
import { runService } from "@outreach/process/runProcess"
import { Effect, Layer } from "effect"
import { ConsoleConfig } from "./ConsoleConfig.ts"
import { console } from "./console.ts"

// If the database was away at the start, its secrets are opened later, and end the process then if the key is wrong.
const serve = Effect.flatMap(DatabaseMonitor, ({ secretsRead }) => Effect.andThen(secretsRead, Effect.never))

runService("outreach-console", Effect.provide(serve, Layer.provide(console, ConsoleConfig.fromEnvironment)))
