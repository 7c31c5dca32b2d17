import { runProcess } from "@outreach/process/runProcess"
import { telemetry } from "@outreach/process/telemetry"
import { Effect } from "effect"
import { worker } from "./worker.ts"

runProcess(worker.pipe(Effect.provide(telemetry("outreach-worker"))))
