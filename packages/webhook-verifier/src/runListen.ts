import { randomBytes } from "node:crypto"
import { createInterface } from "node:readline"
import { FEED_EVENT_TYPES, type FeedEventType } from "@outreach/contract/names"
import { parseDuration } from "@outreach/retry-policy"
import { listen } from "./listen.ts"
import { sampleTypes } from "./sampleEvent.ts"

export const SANDBOX_URL = "http://127.0.0.1:8080"

/** Options of the command line. */
export interface ListenFlags {
  readonly forward?: string | undefined
  /** Default: the environment's `OUTREACH_KEY`. */
  readonly "api-key"?: string | undefined
  /** Default: the environment's `OUTREACH_URL`, or the sandbox's URL. */
  readonly "base-url"?: string | undefined
  readonly type?: readonly string[] | undefined
  readonly since?: string | undefined
  readonly "standard-webhooks"?: boolean | undefined
}

/** Runs `listen` until a signal, with commands from a terminal or from standard input. Returns the exit code. */
export async function runListen(flags: ListenFlags, configured: readonly string[]): Promise<number> {
  const forward = readAddress("--forward", flags.forward ?? "")
  const baseUrl = flags["base-url"] ?? process.env["OUTREACH_URL"] ?? SANDBOX_URL
  readAddress("--base-url", baseUrl)
  const apiKey = readKey(flags["api-key"] ?? process.env["OUTREACH_KEY"] ?? "")
  const types = (flags.type ?? []).map(readType)
  const since = flags.since === undefined ? undefined : readSince(flags.since)
  const isConfigured = !configured.includes("")
  const secrets = isConfigured ? configured : [createSecret()]
  if (!isConfigured)
    console.log(`Each event is signed with this secret, which the receiver needs:\n\n  ${secrets[0]}\n`)

  const stop = new AbortController()
  const print = (line: string): void => console.log(line)
  const { "standard-webhooks": standardWebhooks = false } = flags
  const { signal } = stop
  const { repeat, ended } = listen({ apiKey, baseUrl, forward, secrets, standardWebhooks, types, since, print, signal })
  const terminal = process.stdin.isTTY === true
  const input = createInterface({ input: process.stdin, ...(terminal && { output: process.stdout }) })
  input.on("line", (line) => repeat(line.replace(/^\s*r\b/, "").trim() || undefined))
  if (terminal) {
    print("r repeats the last event, an id and Enter another one; Ctrl-C ends.")
    process.stdin.on("keypress", () => {
      if (input.line !== "r") return
      input.write(null, { ctrl: true, name: "u" })
      repeat(undefined)
    })
  }
  const end = (): void => stop.abort()
  // The terminal interface handles Ctrl-C itself.
  input.on("SIGINT", end)
  process.once("SIGINT", end).once("SIGTERM", end)
  await ended.finally(() => input.close())
  return 0
}

/** Creates a secret in the service's format: `whsec_` and 44 letters and digits. */
function createSecret(): string {
  const text = randomBytes(33).toString("base64url")
  return /[-_]/.test(text) ? createSecret() : `whsec_${text}`
}

function readKey(text: string): string {
  if (text === "") throw new Error("the API key is missing: give --api-key, or set OUTREACH_KEY")
  if (text.startsWith("orp_live_")) {
    throw new Error(
      "this is a production key, which would bring clinicians' data here: take one of staging or the sandbox",
    )
  }
  return text
}

function readType(text: string): FeedEventType {
  const type = FEED_EVENT_TYPES.find((each) => each === text)
  if (type !== undefined) return type
  const isKnown = (sampleTypes as readonly string[]).includes(text)
  throw new Error(
    `${text} is ${isKnown ? "not in the feed; send posts a sample of it" : "not an event type"}. The feed has ${FEED_EVENT_TYPES.join(", ")}`,
  )
}

function readAddress(flag: string, text: string): URL {
  const example = `give ${flag} a whole one, such as http://localhost:3000/hooks`
  if (text === "") throw new Error(`the address is missing: ${example}`)
  // Without this, `localhost:` parses as a scheme.
  if (!/^https?:\/\//.test(text)) throw new Error(`${text} is not an address: ${example}`)
  return new URL(text)
}

/** Parses ISO 8601, or a relative time. */
function readSince(text: string): string {
  const [, count, unit = ""] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  const time = count === undefined ? Date.parse(text) : Date.now() - Number(count) * parseDuration(`1${unit}`)
  if (Number.isNaN(time)) throw new Error("--since is neither ISO 8601 nor a time ago such as 15m, 2h or 1d")
  return new Date(time).toISOString()
}
