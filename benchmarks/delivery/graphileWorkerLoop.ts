import { Logger, run } from "graphile-worker"
import { IN_FLIGHT } from "./Contender.ts"
import { postSigned } from "./postSigned.ts"

// graphile-worker with what its documentation has for throughput: a local queue, and completion in batches.

await run({
  connectionString: process.env["DATABASE_URL"]!,
  logger: new Logger(() => () => {}),
  preset: {
    worker: {
      concurrentJobs: IN_FLIGHT,
      maxPoolSize: 10,
      pollInterval: 1000,
      localQueue: { size: 4 * IN_FLIGHT },
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
