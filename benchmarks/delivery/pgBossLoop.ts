import { PgBoss } from "pg-boss"
import { IN_FLIGHT } from "./Contender.ts"
import { postSigned } from "./postSigned.ts"

// pg-boss with what its documentation has for throughput: batches, burst mode, NOTIFY, several workers.

const WORKERS = 2
const boss = new PgBoss({ connectionString: process.env["DATABASE_URL"]!, max: 8, useListenNotify: true })
boss.on("error", console.error)
await boss.start()
await boss.work<{ id: string; url: string; body: string }>(
  "deliveries",
  {
    batchSize: IN_FLIGHT / WORKERS,
    localConcurrency: WORKERS,
    pollingIntervalSeconds: 0.5,
    burstWhenBatchFull: true,
    perJobResults: true,
  },
  (jobs) =>
    Promise.all(
      jobs.map(async ({ id, data }) => {
        const { started, latency, status, response } = await postSigned(data.url, data.id, 1, data.body)
        return { id, status: "completed" as const, output: { started, latency, status, response } }
      }),
    ),
)
