import { PgBoss } from "pg-boss"
import { MAX_IN_FLIGHT } from "../../delivery/Candidate.ts"
import { postSigned } from "../../delivery/postSigned.ts"

// pg-boss with the options that its documentation recommends for throughput: batches, burst mode, NOTIFY and several workers.

const WORKERS = 2
const boss = new PgBoss({ connectionString: process.env["DATABASE_URL"]!, max: 8, useListenNotify: true })
boss.on("error", console.error)
await boss.start()
await boss.work<{ id: string; url: string; body: string }>(
  "deliveries",
  {
    batchSize: MAX_IN_FLIGHT / WORKERS,
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
