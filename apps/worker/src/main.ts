import { runService } from "@outreach/process/runProcess"
import { worker } from "./worker.ts"

runService("outreach-worker", worker)
