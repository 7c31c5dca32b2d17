import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { compileCache } from "@outreach/testing/compileCache"
import { eventually } from "@outreach/testing/eventually"
import { asRole } from "@outreach/testing/testRoles"
import { onTestFinished } from "vitest"

/** Returns the worker's environment: any free admin port, and partners on this machine, unless `settings` says otherwise. */
export const settingsFor = (databaseUrl: string, settings: Record<string, string>): Record<string, string> => ({
  DATABASE_URL: asRole(databaseUrl, "worker"),
  SECRETS_KEY: SECRETS_KEY.toString("base64"),
  SMTP_URL: "smtp://127.0.0.1:1",
  MAIL_FROM: "Acme <outreach@acme.test>",
  WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
  LOG_LEVEL: "debug",
  ADMIN_PORT: "0",
  ...settings,
})

/** Starts the worker as a process of its own, and waits until it says that it is at work. */
export const startWorker = async (
  databaseUrl: string,
  settings: Record<string, string> = {},
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
) => {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.resolve("../src/main.ts"))], {
    env: { ...compileCache, ...settingsFor(databaseUrl, settings) },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const ended = once(child, "exit")
  atEnd(async () => {
    child.kill("SIGKILL")
    await ended
  })
  const output = { log: "", errors: "" }
  child.stdout.on("data", (chunk) => {
    output.log += chunk
  })
  child.stderr.on("data", (chunk) => {
    output.errors += chunk
  })
  await eventually(
    () => output.log.includes("worker started") || child.exitCode !== null,
    (over) => over,
  )
  return { child, output, ended: ended.then(([code]) => code as number | null) }
}
