import { runProcess } from "@outreach/process/runProcess"
import { telemetry } from "@outreach/process/telemetry"
import { Layer } from "effect"
import { ApiConfig } from "./ApiConfig.ts"
import { api } from "./api.ts"

runProcess(Layer.launch(api.pipe(Layer.provide(ApiConfig.fromEnvironment), Layer.provide(telemetry("outreach-api")))))
