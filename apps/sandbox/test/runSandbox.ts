import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { createConnection } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { eventually } from "@outreach/testing/eventually"
import { onTestFinished } from "vitest"

/** The content of `sandbox.json`. */
export type Addresses = Readonly<
  Record<
    | "base_url"
    | "console_url"
    | "partner_console_url"
    | "api_key"
    | "organization_id"
    | "program_id"
    | "campaign_id"
    | "endpoint_id"
    | "signing_secret"
    | "inbound_url"
    | "database_url"
    | "partner_url"
    | "mail_url",
    string
  >
>

/** Registers a function to run at the end of a test or of a file's tests. */
type OnEnd = (cleanUp: () => Promise<void>) => void

/** Creates a folder, removed at the end. */
export const sandboxFolder = async (onEnd: OnEnd = onTestFinished): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "sandbox-test-"))
  // A server whose parent the test has killed may still write to the folder.
  onEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

/** Starts the sandbox as a process. It is killed at the end if it still runs. */
export const runSandbox = (
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  onEnd: OnEnd = onTestFinished,
) => {
  const { DATABASE_URL: _, ...env } = process.env
  const child = spawn(process.execPath, [join(import.meta.dirname, "../src/main.ts"), ...args], {
    env: { ...env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const ended = once(child, "close").then(([code]) => code as number | null)
  onEnd(async () => {
    child.kill("SIGKILL")
    await ended
  })
  let output = ""
  child.stdout.on("data", (chunk) => {
    output += chunk
  })
  child.stderr.on("data", (chunk) => {
    output += chunk
  })
  return {
    ended,
    pid: child.pid!,
    output: () => output,
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    /** Waits until the sandbox is ready. */
    addresses: async (folder: string): Promise<Addresses> => {
      const read = () => readFile(join(folder, "sandbox.json"), "utf8").catch(() => undefined)
      const ready = await Promise.race([
        eventually(read, (text) => text !== undefined, 240_000),
        ended.then((code) => {
          throw new Error(`the sandbox ended with ${code}:\n${output}`)
        }),
      ])
      return JSON.parse(ready!) as Addresses
    },
  }
}

/** Reads JSON from an address. */
export const getJson = async (url: string): Promise<unknown> => (await fetch(url)).json()

/** Reports whether nothing listens at an address of this machine. */
export const isRefused = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    const socket = createConnection(Number(port), hostname)
    socket.once("connect", () => resolve(false)).once("error", () => resolve(true))
    socket.once("connect", () => socket.destroy())
  })
