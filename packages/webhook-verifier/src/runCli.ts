import { parseArgs } from "node:util"
import { FEED_EVENT_TYPES } from "@outreach/contract/names"
import { explain } from "./explain.ts"
import { runListen, SANDBOX_URL } from "./runListen.ts"
import { sampleEvent, sampleTypes, signWebhook } from "./testing.node.ts"
import type { EventType } from "./WebhookEvent.ts"

const HELP = `Explains signatures of the Outreach Partner API's webhooks, sends samples, and forwards events to this machine.

  npx @outreach/webhook-verifier verify --header <X-Signature> [--secret <secret>]... [--received-at <time>] < body
      Says whether the signature of the body is good, and if not, why. Exits with 1 if not.

  npx @outreach/webhook-verifier send --url <address> [--secret <secret>] [--type <event type>] [--event-id <id>]
      Posts a signed sample of an event to a receiver of yours, and says what it answered. Exits with 1 unless it was 2xx.
      Types: ${sampleTypes.join(", ")}.

  npx @outreach/webhook-verifier listen --forward <address> [--api-key <key>] [--base-url <address>] [--secret <secret>]
                                        [--type <event type>]... [--since <time>] [--standard-webhooks]
      Follows the events of the sandbox or of staging, and forwards each to a receiver of yours, signed as the service would
      send it, until Ctrl-C. Prints status, time, type and id of each.
      r repeats the last event; its id and Enter repeat another one (without a terminal: the line r, or r and an id).
      Types: ${FEED_EVENT_TYPES.join(", ")}.

  --secret       a signing secret, as it was issued; WEBHOOK_SECRET in the environment keeps it out of the shell's history;
                 listen makes one and prints it unless there is one
  --received-at  when it arrived: Unix seconds or ISO 8601; default now
  --type         for send, default outreach.email_sent; for listen, default all
  --event-id     evt_<hex>; default another one each time. Send the same twice to see whether it is handled once.
  --forward      the address of the receiver, such as http://localhost:3000/hooks
  --api-key      the key that reads the events, with the scope events:read; default OUTREACH_KEY of the environment
  --base-url     the address of the API; default OUTREACH_URL of the environment, or the sandbox's, ${SANDBOX_URL}
  --since        which events come first: ISO 8601, or a time ago such as 15m, 2h or 1d; default those from now on
  --standard-webhooks  sends webhook-id, webhook-timestamp and webhook-signature as well, as to an endpoint that asks for them
`

/** The process in which a command runs. */
export interface CliProcess {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly readInput: () => Uint8Array
  readonly print: (text: string) => void
}

/** Runs a command and returns its exit code. Throws an error with a message if the command line is invalid. */
export async function runCli(args: readonly string[], { env, readInput, print }: CliProcess): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      header: { type: "string" },
      secret: { type: "string", multiple: true },
      "received-at": { type: "string" },
      url: { type: "string" },
      type: { type: "string", multiple: true },
      "event-id": { type: "string" },
      forward: { type: "string" },
      "api-key": { type: "string" },
      "base-url": { type: "string" },
      since: { type: "string" },
      "standard-webhooks": { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  })
  const [command, ...rest] = positionals
  if (values.help || command === undefined) {
    print(HELP)
    return values.help ? 0 : 2
  }
  if (rest.length > 0) throw new Error(`unexpected argument ${rest[0]}`)
  const secrets = values.secret ?? [env["WEBHOOK_SECRET"] ?? ""]
  if (command === "listen") return runListen(values, secrets)
  if (secrets.includes("")) throw new Error("there is no secret: give --secret, or set WEBHOOK_SECRET")
  if (command === "verify") {
    const body = readInput()
    const receivedAt = readTime(values["received-at"])
    const { verified, lines } = explain({ header: values.header, body, secrets, receivedAt })
    print(lines.join("\n"))
    return verified ? 0 : 1
  }
  if (command === "send") {
    const { url, type, "event-id": eventId } = values
    return send({ url, types: type, eventId }, secrets, print)
  }
  throw new Error(`${command} is not a command: give verify, send or listen`)
}

async function send(
  { url, types = [], eventId }: { url: string | undefined; types: string[] | undefined; eventId: string | undefined },
  secrets: readonly string[],
  print: (text: string) => void,
): Promise<number> {
  const [type = "outreach.email_sent", another] = types
  if (another !== undefined) throw new Error("send takes one --type")
  if (url === undefined) throw new Error("the address is missing: give --url")
  if (!(sampleTypes as readonly string[]).includes(type)) {
    throw new Error(`${type} is not an event type; the types are ${sampleTypes.join(", ")}`)
  }
  const event = sampleEvent(type as EventType, { eventId })
  const webhook = await signWebhook(event, secrets)
  const begun = Date.now()
  const response = await fetch(url, { method: "POST", redirect: "manual", ...webhook }).catch(
    (error: Error & { cause?: { message?: string } }) => {
      throw new Error(`${url} cannot be reached: ${error.cause?.message ?? error.message}`)
    },
  )
  const text = (await response.text()).slice(0, 4096)
  print(`${event.event_type} ${event.event_id}: ${response.status} after ${Date.now() - begun} ms\n${text}`.trimEnd())
  print(MEANING[Math.floor(response.status / 100)] ?? MEANING[5]!)
  return response.ok ? 0 : 1
}

const MEANING: { readonly [hundreds: number]: string } = {
  2: "The service would take it for delivered.",
  3: "The service follows no redirect: it would try again, and give up after 7 attempts.",
  4: "The service would not try again: 4xx is for good, unless your endpoint names the status.",
  5: "The service would try again, up to 7 times in 31 hours.",
}

function readTime(text: string | undefined): number {
  if (text === undefined) return Math.floor(Date.now() / 1000)
  const seconds = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Date.parse(text) / 1000
  if (!Number.isFinite(seconds)) throw new Error("--received-at is neither Unix seconds nor ISO 8601")
  return seconds
}
