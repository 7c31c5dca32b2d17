import { Logger, run } from "graphile-worker"
import { MAX_IN_FLIGHT } from "../../delivery/Candidate.ts"
import { postSigned } from "../../delivery/postSigned.ts"

// graphile-worker with the options that its documentation recommends for throughput: a local queue and batched completion.

await run({
  connectionString: process.env["DATABASE_URL"]!,
  logger: new Logger(() => () => {}),
  preset: {
    worker: {
      concurrentJobs: MAX_IN_FLIGHT,
      maxPoolSize: 10,
      pollInterval: 1000,
      localQueue: { size: 4 * MAX_IN_FLIGHT },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    },
  },
  taskList: {
    deliver: async (payload) => {
      const { id, url, body } = payload as { id: string; url: string; body: string }
      await postSigned(url, id, 1, body)
    },
  },
})
