import { SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { startProcess, type TestProcess } from "@outreach/testing/startProcess"
import { until } from "@outreach/testing/until"
import { DOCS_URL } from "../startApi.ts"
import { startApiProcess } from "../startApiProcess.ts"

const WORKER = new URL("../../../worker/src/main.ts", import.meta.url).href
const PORT = 8080

/** Starts two API processes and two workers. Each can be killed and restarted at the same address. */
export const startFleet = async (databaseUrl: string) => {
  const hosts = [loopbackAddress(), loopbackAddress()]
  const starts: ReadonlyArray<() => Promise<TestProcess>> = [
    ...hosts.map((host) => () => startApi(databaseUrl, host)),
    () => startWorker(databaseUrl),
    () => startWorker(databaseUrl),
  ]
  const members = await Promise.all(starts.map((start) => start()))
  return {
    urls: hosts.map((host) => `http://${host}:${PORT}`),
    size: starts.length,
    /** Kills a member with SIGKILL and restarts it. */
    replace: async (member: number) => {
      await members[member]!.kill()
      members[member] = await starts[member]!()
    },
  }
}

const startApi = async (databaseUrl: string, host: string) => {
  const process = startApiProcess(databaseUrl, { DOCS_URL, HOST: host, PORT: String(PORT) })
  await until(process, "listening")
  return process
}

const startWorker = async (databaseUrl: string) => {
  const process = startProcess(WORKER, {
    DATABASE_URL: databaseUrl,
    SECRETS_KEY: SECRETS_KEY.toString("base64"),
    SMTP_URL: "smtp://127.0.0.1:1",
    MAIL_FROM: "Acme <outreach@acme.test>",
    ADMIN_PORT: "0",
  })
  await until(process, "worker started")
  return process
}
