import { fileURLToPath } from "node:url"
import { makeWorkerUtils, type WorkerUtils } from "graphile-worker"
import { PgBoss } from "pg-boss"
import type { Candidate } from "../../delivery/Candidate.ts"
import { handTuned, ours } from "../../delivery/candidates.ts"

let boss: PgBoss
let bossUrls: readonly string[]
const pgBoss: Candidate = {
  name: "pg-boss",
  main: fileURLToPath(import.meta.resolve("./pgBossLoop.ts")),
  setUp: async (_sql, databaseUrl, urls) => {
    boss = new PgBoss({ connectionString: databaseUrl, useListenNotify: true, max: 2 })
    boss.on("error", console.error)
    await boss.start()
    await boss.createQueue("deliveries", { notify: true })
    bossUrls = urls
  },
  publish: async (_sql, publications) => {
    const jobs = publications.map(({ deliveryId, endpoint, body }) => ({
      data: { id: deliveryId, url: bossUrls[endpoint]!, body },
    }))
    await boss.insert("deliveries", jobs)
  },
  isDone: async (sql) =>
    (await sql`select from pgboss.job where state < 'completed' and name = 'deliveries' limit 1`).length === 0,
  close: async () => {
    await boss.stop({ graceful: false })
  },
}

let utils: WorkerUtils
let graphileUrls: readonly string[]
const graphileWorker: Candidate = {
  name: "graphile-worker",
  main: fileURLToPath(import.meta.resolve("./graphileWorkerLoop.ts")),
  setUp: async (_sql, databaseUrl, urls) => {
    utils = await makeWorkerUtils({ connectionString: databaseUrl })
    await utils.migrate()
    graphileUrls = urls
  },
  publish: async (_sql, publications) => {
    const jobs = publications.map(({ deliveryId, endpoint, body }) => ({
      identifier: "deliver",
      payload: { id: deliveryId, url: graphileUrls[endpoint]!, body },
    }))
    await utils.addJobs(jobs)
  },
  isDone: async (sql) => (await sql`select from graphile_worker._private_jobs limit 1`).length === 0,
  close: async () => {
    await utils.release()
  },
}

/** The candidates that deliver from a database. */
export const candidates: readonly Candidate[] = [ours, handTuned, pgBoss, graphileWorker]
