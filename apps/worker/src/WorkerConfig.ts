import { smtpSettings } from "@outreach/mail/smtpSettings"
import { setting } from "@outreach/process/setting"
import {
  databaseUrl,
  deployment,
  publicBaseUrl,
  secretsKey,
  webhookAllowPrivateAddresses,
} from "@outreach/process/settings"
import { formatSchedule, parseSchedule, SPECIFIED_SCHEDULE } from "@outreach/retry-policy"
import { Config } from "effect"

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

/** `WEBHOOK_CALL_SECONDS`: how long a whole call may take, from name resolution to the headers of the response. Default 15. */
const webhookCallSeconds = wholeNumber("WEBHOOK_CALL_SECONDS", { least: 1, most: 120, default: 15 })

/** `WEBHOOK_LEASE_SECONDS`: for how long a worker that says nothing keeps its endpoints; then others take them. At most 45: a worker that says it lives for a minute more is not believed. Default 9. */
const webhookLeaseSeconds = wholeNumber("WEBHOOK_LEASE_SECONDS", { least: 2, most: 45, default: 9 })

/** `WEBHOOK_CALLS_IN_FLIGHT`: how many calls one worker makes at once. Default 512. */
const webhookCallsInFlight = wholeNumber("WEBHOOK_CALLS_IN_FLIGHT", { least: 1, most: 10_000, default: 512 })

/** `WEBHOOK_CALLS_PER_ENDPOINT`: how many of them may go to one endpoint. Default 16. */
const webhookCallsPerEndpoint = wholeNumber("WEBHOOK_CALLS_PER_ENDPOINT", { least: 1, most: 1000, default: 16 })

/** `ADMIN_HOST`: the address that answers operators. Default `127.0.0.1`. */
const adminHost = host("ADMIN_HOST")

/** `ADMIN_PORT`: the port that answers operators; 0 takes any that is free. Default 9464. */
const adminPort = wholeNumber("ADMIN_PORT", { least: 0, most: 65_535, default: 9464 })

/** `MAIL_PER_MINUTE`: how many e-mails all workers together send in a minute; 0 for no bound. Default 0. */
const mailPerMinute = rate("MAIL_PER_MINUTE")

/** `MAIL_PER_DOMAIN_MINUTE`: how many of them may go to one recipient domain; 0 for no bound. Default 0. */
const mailPerDomainMinute = rate("MAIL_PER_DOMAIN_MINUTE")

/** `BOUNCE_SMTP_HOST`: the address on which bounces are received. Default `127.0.0.1`. */
const bounceHost = host("BOUNCE_SMTP_HOST")

/** `BOUNCE_SMTP_PORT`: the port on which bounces are received over SMTP; `none` receives none, and 0 takes any that is free. Default `none`. */
const bouncePort = setting("BOUNCE_SMTP_PORT", {
  expected: "none, or a whole number from 0 to 65535",
  parse: (text) => (text === "none" ? null : readWholeNumber(text, { least: 0, most: 65_535 })),
  default: "none",
})

/** How webhooks are called. */
const webhooks = Config.all({
  callSeconds: webhookCallSeconds,
  leaseSeconds: webhookLeaseSeconds,
  maxInFlight: webhookCallsInFlight,
  perEndpoint: webhookCallsPerEndpoint,
})

/** How e-mails are sent, and their bounces received. */
const mail = Config.all({
  smtp: smtpSettings,
  perMinute: mailPerMinute,
  perDomainMinute: mailPerDomainMinute,
  bounceHost,
  bouncePort,
}).pipe(Config.map(({ smtp, ...mail }) => ({ ...mail, ...smtp })))

/** What the worker reads from its environment, beside what `telemetry` reads. */
export const WorkerConfig = Config.all({
  databaseUrl,
  secretsKey,
  deployment,
  publicBaseUrl,
  mail,
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
    parse: (text) => readWholeNumber(text, bounds),
    default: String(bounds.default),
  })
}

function readWholeNumber(text: string, { least, most }: { readonly least: number; readonly most: number }) {
  return /^\d{1,6}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined
}

function rate(name: string): Config.Config<number | null> {
  return Config.map(wholeNumber(name, { least: 0, most: 999_999, default: 0 }), (perMinute) => perMinute || null)
}

function host(name: string): Config.Config<string> {
  return setting(name, {
    expected: "a host name or an IP address",
    parse: (text) => (/^[\w.:-]+$/.test(text) ? text : undefined),
    default: "127.0.0.1",
  })
}
