import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { compileCache } from "@outreach/testing/compileCache"
import { asRole } from "@outreach/testing/testRoles"

const KEY = SECRETS_KEY.toString("base64")

/** Returns the API's environment: any free port, and nothing that slows a test, unless `settings` says otherwise. */
export const settingsFor = (
  databaseUrl: string,
  settings: Readonly<Record<string, string>>,
): Record<string, string> => ({
  DATABASE_URL: asRole(databaseUrl, "api"),
  SECRETS_KEY: KEY,
  CURSOR_KEY: KEY,
  PORT: "0",
  ADMIN_PORT: "0",
  SHUTDOWN_DELAY_SECONDS: "0",
  UNAUTHENTICATED_LIMIT: "1000000",
  ...settings,
})

/** Starts the API as a process of its own. */
export const spawnApi = (databaseUrl: string, settings: Readonly<Record<string, string>> = {}): ChildProcess =>
  spawn(process.execPath, [fileURLToPath(import.meta.resolve("../src/main.ts"))], {
    env: { ...compileCache, ...settingsFor(databaseUrl, settings) },
    stdio: ["ignore", "pipe", "pipe"],
  })

/** Waits for the line that says where the process listens; every other line goes to `logged`. */
export const addressOf = (
  child: ChildProcess,
  logged: (line: string) => void = () => {},
): Promise<{ readonly url: string; readonly port: number }> =>
  new Promise((resolve, reject) => {
    createInterface({ input: child.stdout! })
      .on("line", (line) => {
        const { message, annotations } = JSON.parse(line)
        if (message === "listening") resolve(annotations)
        else logged(line)
      })
      .on("close", () => reject(new Error("the process ended before it listened")))
  })

/** Ends a process that has not ended by itself. */
export const endApi = async (child: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, "exit")
  child.kill(signal)
  await exited
}
