import { noneOr, textSchema, wholeNumber } from "@outreach/domain/textSchema"
import { smtpSettings } from "@outreach/mail/smtpSettings"
import { databaseConnections, databaseSettings } from "@outreach/postgres-connection/databaseSettings"
import { dnsServers } from "@outreach/process/dnsServers"
import { setting, whereSet } from "@outreach/process/setting"
import {
  adminHost,
  adminPort,
  consoleUrl,
  deployment,
  publicBaseUrl,
  secretsKey,
  webhookAllowPrivateAddresses,
  webhookRetryDelays,
} from "@outreach/process/settings"
import { webhookProxy } from "@outreach/process/webhookProxy"
import { Config, type Schema } from "effect"

export const failoverSeconds = setting("FAILOVER_SECONDS", wholeNumber(0, 3600, "seconds"), {
  default: "0",
  about:
    "maximum duration of a failover to a synchronous standby. A worker that saw the database within this time continues after a promotion. With 0, it waits for `ops restores finish` ([why](restoring.md#a-failover-is-not-a-restore))",
})

const mail = Config.all({
  smtp: smtpSettings,
  perMinute: rate(
    "MAIL_PER_MINUTE",
    "e-mails per minute, over all workers; 0 for no limit. Campaigns can have lower limits. Workers can save up one second's worth",
  ),
  perDomainMinute: rate(
    "MAIL_PER_DOMAIN_MINUTE",
    "e-mails per minute to one recipient domain, over all workers; 0 for no limit",
  ),
}).pipe(Config.map(({ smtp, ...mail }) => ({ ...mail, ...smtp })))

/** Hours without a success after which an endpoint's organization is notified and the endpoint is disabled; null for never. */
const failing = setting(
  "WEBHOOK_FAILING_HOURS",
  textSchema("three rising numbers of hours from 1 to 8760, such as 24,72,120, or none in place of one", (text) => {
    if (!/^(?:(?:[1-9]\d{0,3}|none)(?:,(?!$)|$)){3}$/.test(text)) return undefined
    const [notice, reminder, disable] = text.split(",").map((hours) => (hours === "none" ? null : Number(hours)))
    const given = [notice, reminder, disable].filter((hours) => typeof hours === "number")
    if (given.some((hours) => hours > 8760)) return undefined
    if (given.some((hours, i) => i > 0 && hours <= given[i - 1]!)) throw new RangeError("the hours do not rise")
    return { notice: notice!, reminder: reminder!, disable: disable! }
  }),
  {
    default: "24,72,120",
    about:
      "hours of continuous failures of an endpoint until its contacts get an e-mail, get another, and [the endpoint is disabled](on-call.md#outreachendpointfailing); `none`: never",
  },
)

/** Settings of the worker, without those of `telemetry`. */
export const WorkerConfig = Config.all({
  database: databaseSettings,
  databaseConnections: databaseConnections("worker"),
  secretsKey,
  deployment,
  publicBaseUrl,
  mail,
  webhookRetryDelays,
  webhookAllowPrivateAddresses,
  webhookProxy,
  webhooks: Config.all({
    callSeconds: setting("WEBHOOK_CALL_SECONDS", wholeNumber(1, 120, "seconds"), {
      default: "15",
      about: "time limit of a call, from DNS to the response headers. The worker waits one more second for the body",
    }),
    /** At most 45: a lease must end before a worker's promise to live one more minute does. */
    leaseSeconds: setting("WEBHOOK_LEASE_SECONDS", wholeNumber(2, 45, "seconds"), {
      default: "9",
      about:
        "seconds without a heartbeat after which other workers take a worker's endpoints. Heartbeats are sent at least four times in this time",
    }),
    maxInFlight: setting("WEBHOOK_CALLS_IN_FLIGHT", wholeNumber(1, 10_000), {
      default: "512",
      about: "concurrent calls per worker",
    }),
    perEndpoint: setting("WEBHOOK_CALLS_PER_ENDPOINT", wholeNumber(1, 1000), {
      default: "16",
      about:
        "concurrent calls per endpoint and worker; `ops endpoints update --in-flight` sets a lower limit for one endpoint over all workers",
    }),
  }),
  failing,
  consoleUrl: whereSet(consoleUrl),
  dnsServers,
  drainSeconds: setting("DRAIN_SECONDS", wholeNumber(0, 300, "seconds"), {
    default: "20",
    about:
      "seconds for which calls and e-mails in flight can finish after a stop signal. Endpoints move to other workers immediately. Unfinished deliveries and e-mails are sent again",
  }),
  failoverSeconds,
  retention: Config.all({
    historyDays: setting("HISTORY_DAYS", wholeNumber(1, 3650, "days"), {
      default: "90",
      about:
        "days for which arrived deliveries, hits with addresses, e-mail attempts, delivery outcomes and closed issues are kept. The database enforces [a minimum](operations.md#how-long-data-is-kept), 7 days by default",
    }),
    eventsMonths: kept(
      "EVENTS_MONTHS",
      wholeNumber(1, 1200, "months"),
      "full months before the current one for which [events are kept](operations.md#how-long-data-is-kept); `none`: permanently",
    ),
    inboxMonths: kept(
      "INBOX_MONTHS",
      wholeNumber(1, 1200, "months"),
      "full months before the current one for which inbound events are kept; `none`: permanently. Their ids are always kept, so that no event is applied twice",
    ),
    deadLettersDays: kept(
      "DEAD_LETTERS_DAYS",
      wholeNumber(1, 3650, "days"),
      "days for which dead letters are kept; with `none`, until an operator removes them",
    ),
    recipientsMonths: kept(
      "RECIPIENTS_MONTHS",
      wholeNumber(1, 1200, "months"),
      "months after the end of a campaign when its recipients are erased; `none`: never. Read [the consequences](clinicians.md#recipients-past-their-retention) first",
    ),
  }),
  adminHost,
  adminPort: adminPort("worker"),
})

function rate(name: string, about: string): Config.Config<number | null> {
  const given = setting(name, wholeNumber(0, 999_999), { default: "0", isAdvised: true, about })
  return Config.map(given, (perMinute) => perMinute || null)
}

function kept(name: string, time: Schema.Codec<number, string>, about: string): Config.Config<number | null> {
  return setting(name, noneOr(time), { default: "none", isAdvised: true, about })
}
