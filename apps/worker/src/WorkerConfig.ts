import { setting } from "@outreach/process/setting"
import { databaseUrl, deployment, secretsKey, webhookAllowPrivateAddresses } from "@outreach/process/settings"
import { formatSchedule, parseSchedule, SPECIFIED_SCHEDULE } from "@outreach/retry-policy"
import { Config, Redacted } from "effect"
import addressparser from "nodemailer/lib/addressparser"

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
const drainSeconds = setting("DRAIN_SECONDS", {
  expected: "a whole number of seconds from 0 to 300",
  parse: (text) => (/^\d{1,3}$/.test(text) && Number(text) <= 300 ? Number(text) : undefined),
  default: "20",
})

/** What the worker reads from its environment, beside what `telemetry` reads. */
export const WorkerConfig = Config.all({
  databaseUrl,
  secretsKey,
  deployment,
  smtpUrl,
  mailFrom,
  webhookRetryDelays,
  webhookAllowPrivateAddresses,
  drainSeconds,
})

function readSender(text: string): Sender | undefined {
  const [sender, ...others] = addressparser(text)
  if (sender === undefined || others.length > 0 || !("address" in sender)) return undefined
  const { name, address } = sender
  return address !== undefined && /^[^\s@<>,;:"]+@[^\s@<>,;:"]+$/.test(address) && !/[\r\n]/.test(text)
    ? { name: name ?? "", address }
    : undefined
}
