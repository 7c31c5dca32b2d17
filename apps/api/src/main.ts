import { DatabaseMonitor } from "@outreach/postgres/DatabaseMonitor"
import { runService } from "@outreach/process/runProcess"
import { Effect, Layer } from "effect"
import { ApiConfig } from "./ApiConfig.ts"
import { api } from "./api.ts"

// If the database was unavailable at the start, its secrets are decrypted later; a wrong key then ends the process.
const serve = Effect.flatMap(DatabaseMonitor, ({ secretsRead }) => Effect.andThen(secretsRead, Effect.never))

runService("outreach-api", Effect.provide(serve, Layer.provide(api, ApiConfig.fromEnvironment)))
