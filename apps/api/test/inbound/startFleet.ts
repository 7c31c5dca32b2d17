import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { reservePort } from "@outreach/testing/reservePort"
import { addressOf, endApi, spawnApi } from "../spawnApi.ts"

const WORKER = fileURLToPath(new URL("../../../worker/src/main.ts", import.meta.url))

/** Two API processes and two workers, of which any may be killed and comes back. */
export const startFleet = async (databaseUrl: string) => {
  const ports = [await reservePort(), await reservePort()]
  const starts: ReadonlyArray<() => Promise<ChildProcess>> = [
    ...ports.map((port) => () => startApi(databaseUrl, port)),
    () => startWorker(databaseUrl),
    () => startWorker(databaseUrl),
  ]
  const members = await Promise.all(starts.map((start) => start()))
  return {
    urls: ports.map((port) => `http://127.0.0.1:${port}`),
    size: starts.length,
    /** Kills a member without warning, and starts it again. */
    replace: async (member: number) => {
      await endApi(members[member]!)
      members[member] = await starts[member]!()
    },
    stop: () => Promise.all(members.map((member) => endApi(member))),
  }
}

const startApi = async (databaseUrl: string, port: number) => {
  const child = spawnApi(databaseUrl, { PORT: String(port), LOG_LEVEL: "info" })
  child.stderr!.resume()
  await addressOf(child)
  return child
}

const startWorker = async (databaseUrl: string) => {
  const child = spawn(process.execPath, [WORKER], {
    env: {
      DATABASE_URL: databaseUrl,
      SECRETS_KEY: SECRETS_KEY.toString("base64"),
      SMTP_URL: "smtp://127.0.0.1:1",
      MAIL_FROM: "Acme <outreach@acme.test>",
      ADMIN_PORT: "0",
    },
    stdio: ["ignore", "pipe", "ignore"],
  })
  const ended = once(child, "exit").then(() => Promise.reject(new Error("the worker ended before it was at work")))
  await Promise.race([once(child.stdout, "data"), ended])
  child.stdout.resume()
  return child
}
