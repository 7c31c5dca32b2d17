import { readFile, writeFile } from "node:fs/promises"
import { createConnection } from "node:net"
import { join } from "node:path"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { npi } from "@outreach/testing/seedCampaign"
import { type AtEnd, startProgram } from "@outreach/testing/startProcess"
import { until } from "@outreach/testing/until"
import { type Behavior, behaviorOf } from "../src/behaviorOf.ts"

/** The content of `sandbox.json`. */
export type Addresses = Readonly<
  Record<
    | "base_url"
    | "console_url"
    | "partner_console_url"
    | "api_key"
    | "organization_id"
    | "campaign_id"
    | "endpoint_id"
    | "signing_secret"
    | "database_url"
    | "partner_url"
    | "mail_url",
    string
  >
>

export type SandboxProcess = ReturnType<typeof runSandbox>

/** Starts the sandbox as a process on a separate loopback address. It is killed at the end if it still runs. */
export const runSandbox = (
  folder: string,
  options: {
    readonly args?: readonly string[]
    readonly environment?: Readonly<Record<string, string>>
    readonly atEnd?: AtEnd
  } = {},
) => {
  const { args = [], environment = {}, atEnd } = options
  const { DATABASE_URL: _, ...env } = process.env
  const main = join(import.meta.dirname, "../src/main.ts")
  const all = [main, "--folder", folder, "--host", loopbackAddress(), ...args]
  const sandbox = startProgram(process.execPath, all, { env: { ...env, ...environment } }, atEnd)
  /** Waits until the output matches. */
  const shows = async (pattern: RegExp): Promise<void> => {
    await until(sandbox, ({ text }) => pattern.test(text))
  }
  return Object.assign(sandbox, {
    shows,
    /** Waits until the sandbox is ready. Returns its addresses. */
    addresses: async (): Promise<Addresses> => {
      await shows(/From now on the simulated clinicians act/)
      return JSON.parse(await readFile(join(folder, "sandbox.json"), "utf8"))
    },
    output: () => sandbox.text + sandbox.errors,
  })
}

/** Writes a CSV file of clinicians with these behaviors who act within seconds. Returns its path. */
export const writeRecipients = async (
  folder: string,
  behaviors: ReadonlyArray<(behavior: Behavior) => boolean>,
): Promise<string> => {
  const all = Array.from({ length: 40_000 }, (_, i) => `doctor${i}@clinic.test`)
  const emails = behaviors.map((does, i) => {
    const matching = all.filter((email) => does(behaviorOf(email)) && behaviorOf(email).readAfterMs < 3000)
    return matching[behaviors.indexOf(does) === i ? 0 : 1]!
  })
  const file = join(folder, "recipients.csv")
  await writeFile(file, ["npi,email", ...emails.map((email, i) => `${npi(i)},${email}`)].join("\n"))
  return file
}

export const getJson = async (url: string): Promise<unknown> => (await fetch(url)).json()

/** Returns whether no process listens at a local URL. */
export const isRefused = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url)
    const socket = createConnection(Number(port), hostname)
    socket.once("connect", () => resolve(false)).once("error", () => resolve(true))
    socket.once("connect", () => socket.destroy())
  })
