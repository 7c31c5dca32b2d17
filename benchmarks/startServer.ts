import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

/** The servers that are measured. */
export const CANDIDATES = ["ours", "baseline"] as const
export type CandidateName = (typeof CANDIDATES)[number]

/** A server in a child process. */
export interface Server {
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Stops the server gracefully, so that it writes its profile. */
  readonly stop: () => Promise<void>
}

/** The main module of each candidate. */
export type Mains = Readonly<Record<CandidateName, string>>

const MAINS: Mains = {
  ours: fileURLToPath(import.meta.resolve("@outreach/api/main")),
  baseline: fileURLToPath(import.meta.resolve("./baseline/main.ts")),
}

/** The base of `doc_url` in both candidates' errors. */
const DOCS_URL = "https://docs.outreach.test"

const KEY = Buffer.alloc(32, 7).toString("base64")

/** Starts a candidate as a deployment would, with plain `node`. `flags` are flags of Node. */
export async function startServer(
  candidate: CandidateName,
  databaseUrl: string,
  flags: readonly string[] = [],
  mains: Mains = MAINS,
): Promise<Server> {
  const child = spawn(process.execPath, [...flags, mains[candidate]], {
    env: {
      NODE_ENV: "production",
      DATABASE_URL: databaseUrl,
      SECRETS_KEY: KEY,
      CURSOR_KEY: KEY,
      DOCS_URL,
      PORT: "0",
      ADMIN_PORT: "0",
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
      .on("close", () => reject(new Error(`${candidate} exited before it listened`)))
  })
  const stop = async () => {
    child.kill("SIGTERM")
    await exited
  }
  return { url, port, pid: child.pid!, stop }
}
