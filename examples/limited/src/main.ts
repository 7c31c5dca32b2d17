import cluster from "node:cluster"
import { createApp } from "./createApp.ts"

// Eight processes on one port, counting in the same Redis.
const { HOST = "127.0.0.1", PORT = "3000", PROCESSES = "8" } = process.env
const { REDIS_URL = "redis://127.0.0.1:6379", REDIS_TIMEOUT_MS = "500" } = process.env

if (cluster.isPrimary) {
  for (let i = 0; i < Number(PROCESSES); i++) cluster.fork()
} else {
  await createApp(REDIS_URL, Number(REDIS_TIMEOUT_MS)).listen({ host: HOST, port: Number(PORT) })
}
