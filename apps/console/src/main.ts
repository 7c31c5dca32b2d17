import { DatabaseMonitor } from "@outreach/postgres/DatabaseMonitor"
import { runService } from "@outreach/process/runProcess"
import { Effect, Layer } from "effect"
import { ConsoleConfig } from "./ConsoleConfig.ts"
import { console } from "./console.ts"

// If the database was down at the start, its secrets are decrypted later, and a wrong key ends the process then.
const serve = Effect.flatMap(DatabaseMonitor, ({ secretsRead }) => Effect.andThen(secretsRead, Effect.never))

runService("outreach-console", Effect.provide(serve, Layer.provide(console, ConsoleConfig.fromEnvironment)))
