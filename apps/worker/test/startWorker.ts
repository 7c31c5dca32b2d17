import { SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { type AtEnd, startProcess, type TestProcess } from "@outreach/testing/startProcess"
import { asRole } from "@outreach/testing/testRoles"
import { until } from "@outreach/testing/until"
import { onTestFinished } from "vitest"

/** Returns the worker's environment: any free admin port, and local partners, unless `settings` overrides it. */
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

/** Starts the worker as a process, and waits until it has started or failed. */
export const startWorker = async (
  databaseUrl: string,
  settings: Record<string, string> = {},
  atEnd: AtEnd = onTestFinished,
): Promise<TestProcess> => {
  const program = import.meta.resolve("../src/main.ts")
  const worker = startProcess(program, settingsFor(databaseUrl, settings), { atEnd })
  await until(
    worker,
    ({ lines }) => worker.over() !== undefined || lines.some(({ message }) => message === "worker started"),
  )
  return worker
}
