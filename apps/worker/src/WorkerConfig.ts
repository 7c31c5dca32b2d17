import { refusal, setting } from "@outreach/process/setting"
import { databaseUrl, deployment, secretsKey, webhookAllowPrivateAddresses } from "@outreach/process/settings"
import { formatSchedule, parseSchedule, SPECIFIED_SCHEDULE } from "@outreach/retry-policy"
import { Config, Effect, Redacted } from "effect"
import addressparser from "nodemailer/lib/addressparser"
import { workerLimits } from "./workerLimits.ts"

/** Who the e-mails come from. */
export interface Sender {
  readonly name: string
  readonly address: string
}

/** `SMTP_URL`: the server that takes the e-mails. */
const smtpUrl = setting("SMTP_URL", {
  expected: "an smtp:// or smtps:// address",
  parse: (text) => {
    const url = URL.parse(text)
    return url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== ""
      ? Redacted.make(text, { label: "SMTP_URL" })
      : undefined
  },
})

/** `MAIL_FROM`: the sender. The domain of its address is the right-hand side of every Message-ID, so that the two are aligned. */
const mailFrom = setting("MAIL_FROM", {
  expected: "an e-mail address, or a name and an address as in Acme Outreach <outreach@acme.example>",
  parse: readSender,
})

/** `WEBHOOK_RETRY_DELAYS`: the waits between the attempts at a webhook. Default: the specification's. */
const webhookRetryDelays = setting("WEBHOOK_RETRY_DELAYS", {
  expected: "a list of delays such as 30s,2m,10m,1h,6h,24h",
  parse: parseSchedule,
  default: formatSchedule(SPECIFIED_SCHEDULE),
})

/** `DRAIN_SECONDS`: how long what is in flight may take to finish once the process is told to stop; what does not finish comes back when its lease ends. Default 20. */
const drainSeconds = wholeNumber("DRAIN_SECONDS", { least: 0, most: 300, default: 20 })

/** `HISTORY_DAYS`: for how many days deliveries that arrived are remembered. Default 90. */
const historyDays = wholeNumber("HISTORY_DAYS", { least: 1, most: 3650, default: 90 })

/** `WEBHOOK_CALL_SECONDS`: how long a whole call may take, from name resolution to the last byte. Default 15. */
const webhookCallSeconds = wholeNumber("WEBHOOK_CALL_SECONDS", { least: 1, most: 120, default: 15 })

/** `WEBHOOK_LEASE_SECONDS`: how long a worker may keep a delivery before another takes it for lost. Default 30. */
const webhookLeaseSeconds = wholeNumber("WEBHOOK_LEASE_SECONDS", { least: 1, most: 600, default: 30 })

/** `WEBHOOK_CALLS_IN_FLIGHT`: how many calls all workers together make at once. Default 512. */
const webhookCallsInFlight = wholeNumber("WEBHOOK_CALLS_IN_FLIGHT", { least: 1, most: 10_000, default: 512 })

/** `WEBHOOK_CALLS_PER_ENDPOINT`: how many of them may go to one endpoint. Default 16. */
const webhookCallsPerEndpoint = wholeNumber("WEBHOOK_CALLS_PER_ENDPOINT", { least: 1, most: 1000, default: 16 })

/** `ADMIN_HOST`: the address that answers operators. Default `127.0.0.1`. */
const adminHost = setting("ADMIN_HOST", {
  expected: "a host name or an IP address",
  parse: (text) => (/^[\w.:-]+$/.test(text) ? text : undefined),
  default: "127.0.0.1",
})

/** `ADMIN_PORT`: the port that answers operators; 0 takes any that is free. Default 9464. */
const adminPort = wholeNumber("ADMIN_PORT", { least: 0, most: 65_535, default: 9464 })

/** How webhooks are called. A lease that ended during a call would have the call made twice, so it must outlast it. */
const webhooks = Config.all({
  callSeconds: webhookCallSeconds,
  leaseSeconds: webhookLeaseSeconds,
  inAll: webhookCallsInFlight,
  perEndpoint: webhookCallsPerEndpoint,
}).pipe(
  Config.mapEffect((limits) => {
    const least = limits.callSeconds + workerLimits.deliveries.leaseMarginSeconds
    return limits.leaseSeconds >= least
      ? Effect.succeed(limits)
      : Effect.fail(
          refusal(
            `WEBHOOK_LEASE_SECONDS is too short. It must be at least ${least}: WEBHOOK_CALL_SECONDS and ${workerLimits.deliveries.leaseMarginSeconds} more.`,
          ),
        )
  }),
)

/** What the worker reads from its environment, beside what `telemetry` reads. */
export const WorkerConfig = Config.all({
  databaseUrl,
  secretsKey,
  deployment,
  smtpUrl,
  mailFrom,
  webhookRetryDelays,
  webhookAllowPrivateAddresses,
  webhooks,
  drainSeconds,
  historyDays,
  adminHost,
  adminPort,
})

function wholeNumber(
  name: string,
  bounds: { readonly least: number; readonly most: number; readonly default: number },
): Config.Config<number> {
  const { least, most } = bounds
  return setting(name, {
    expected: `a whole number from ${least} to ${most}`,
    parse: (text) =>
      /^\d{1,6}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined,
    default: String(bounds.default),
  })
}

function readSender(text: string): Sender | undefined {
  const [sender, ...others] = addressparser(text)
  if (sender === undefined || others.length > 0 || !("address" in sender)) return undefined
  const { name, address } = sender
  return address !== undefined && /^[^\s@<>,;:"]+@[^\s@<>,;:"]+$/.test(address) && !/[\r\n]/.test(text)
    ? { name: name ?? "", address }
    : undefined
}
