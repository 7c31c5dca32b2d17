import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { compileCache } from "@outreach/testing/compileCache"
import { asRole } from "@outreach/testing/testRoles"
import { onTestFinished } from "vitest"

const KEY = SECRETS_KEY.toString("base64")

const SETTINGS = {
  api: { CURSOR_KEY: KEY, PORT: "0", SHUTDOWN_DELAY_SECONDS: "0" },
  worker: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true", MAIL_FROM: "Acme <outreach@acme.test>", DRAIN_SECONDS: "1" },
} as const

const MAINS = {
  api: import.meta.resolve("@outreach/api/main"),
  worker: import.meta.resolve("@outreach/worker/main"),
}

const READY = { api: "listening", worker: "worker started" }

/** Runs the API or the worker as a process of its own until the test is finished, or until `atEnd` calls back. Returns its address; empty for the worker. */
export const startProcess = async (
  kind: "api" | "worker",
  databaseUrl: string,
  settings: Readonly<Record<string, string>> = {},
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<string> => {
  const child = spawn(process.execPath, [fileURLToPath(MAINS[kind])], {
    env: {
      ...compileCache,
      DATABASE_URL: asRole(databaseUrl, kind),
      SECRETS_KEY: KEY,
      ADMIN_PORT: "0",
      ...SETTINGS[kind],
      ...settings,
    },
    stdio: ["ignore", "pipe", "inherit"],
  })
  const ended = once(child, "exit")
  atEnd(async () => {
    child.kill("SIGKILL")
    await ended
  })
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout })
      .on("line", (line) => {
        const { message, annotations } = JSON.parse(line)
        if (message === READY[kind]) resolve(annotations.url ?? "")
      })
      .on("close", () => reject(new Error(`the ${kind} ended`)))
  })
}
