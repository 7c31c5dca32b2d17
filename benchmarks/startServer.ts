import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

/** Who is measured. */
export const SIDES = ["ours", "peer"] as const
export type Side = (typeof SIDES)[number]

/** A server as a process of its own. */
export interface Server {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Ends it as a deployment would, so that it writes its profile. */
  readonly stop: () => Promise<void>
}

/** What each side runs. */
export type Mains = Readonly<Record<Side, string>>

const MAINS: Mains = {
  ours: fileURLToPath(import.meta.resolve("@outreach/api/main")),
  peer: fileURLToPath(import.meta.resolve("./peer/main.ts")),
}

/** Where errors of both sides lead. */
const DOCS_URL = "https://docs.outreach.test"

const KEY = Buffer.alloc(32, 7).toString("base64")

/** Starts a side as a deployment would, with plain `node`; `flags` are Node's. */
export async function startServer(
  side: Side,
  databaseUrl: string,
  flags: readonly string[] = [],
  mains: Mains = MAINS,
): Promise<Server> {
  const child = spawn(process.execPath, [...flags, mains[side]], {
    env: {
      NODE_ENV: "production",
      DATABASE_URL: databaseUrl,
      SECRETS_KEY: KEY,
      CURSOR_KEY: KEY,
      DOCS_URL,
      PORT: "0",
    },
    stdio: ["ignore", "pipe", "inherit"],
  })
  const exited = once(child, "exit")
  process.once("exit", () => child.kill("SIGKILL"))
  const { url, port } = await new Promise<{ url: string; port: number }>((resolve, reject) => {
    createInterface({ input: child.stdout })
      .on("line", (line) => {
        const { message, annotations } = JSON.parse(line)
        if (message === "listening") resolve(annotations)
        else process.stderr.write(`${line}\n`)
      })
      .on("close", () => reject(new Error(`${side} ended before it listened`)))
  })
  const stop = async () => {
    child.kill("SIGTERM")
    await exited
  }
  return { url, port, pid: child.pid!, stop }
}
