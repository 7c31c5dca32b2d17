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
import { Config, type Schema } from "effect"

export const failoverSeconds = setting("FAILOVER_SECONDS", wholeNumber(0, 3600, "seconds"), {
  default: "0",
  about:
    "time that a failover to a synchronous standby may take. A worker that saw the database within this time goes on after a promotion. With 0, every promotion waits for `ops restores finish` ([why](restoring.md#a-failover-is-not-a-restore))",
})

const mail = Config.all({
  smtp: smtpSettings,
  perMinute: rate(
    "MAIL_PER_MINUTE",
    "e-mails that all workers together send in a minute, 0 for no limit. A campaign may have a limit of its own. The workers may save up one second's worth",
  ),
  perDomainMinute: rate(
    "MAIL_PER_DOMAIN_MINUTE",
    "the part of `MAIL_PER_MINUTE` that may go to one recipient domain, 0 for no limit",
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
      "hours for which every call to an endpoint has failed before the contacts of its organization are notified by e-mail, before they are notified again, and before the endpoint is disabled; `none` for never. See [operations](on-call.md#outreachendpointfailing)",
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
  webhooks: Config.all({
    callSeconds: setting("WEBHOOK_CALL_SECONDS", wholeNumber(1, 120, "seconds"), {
      default: "15",
      about:
        "time limit of a whole call, from name resolution to the headers of the response, which decide. The worker waits one second for the body",
    }),
    /** At most 45: a lease must end before a worker's promise to live one more minute does. */
    leaseSeconds: setting("WEBHOOK_LEASE_SECONDS", wholeNumber(2, 45, "seconds"), {
      default: "9",
      about:
        "time for which a silent worker keeps its endpoints; then others take them. A worker reports that it lives at least every second, however long its calls last",
    }),
    maxInFlight: setting("WEBHOOK_CALLS_IN_FLIGHT", wholeNumber(1, 10_000), {
      default: "512",
      about: "concurrent calls of one worker",
    }),
    perEndpoint: setting("WEBHOOK_CALLS_PER_ENDPOINT", wholeNumber(1, 1000), {
      default: "16",
      about:
        "the part of `WEBHOOK_CALLS_IN_FLIGHT` that may go to one endpoint; `ops endpoints update --in-flight` gives one endpoint a lower limit, over all workers",
    }),
  }),
  failing,
  consoleUrl: whereSet(consoleUrl),
  dnsServers,
  drainSeconds: setting("DRAIN_SECONDS", wholeNumber(0, 300, "seconds"), {
    default: "20",
    about:
      "time for which calls and e-mails in flight may finish once the process is told to stop. Its endpoints go to other workers at once. The new owner of the endpoint sends an unfinished delivery again. An unfinished e-mail is sent again when its lease ends",
  }),
  failoverSeconds,
  retention: Config.all({
    historyDays: setting("HISTORY_DAYS", wholeNumber(1, 3650, "days"), {
      default: "90",
      about:
        "time for which the database keeps arrived deliveries, hits on links and pixels with their addresses, attempts at messages, outcomes of deliveries over time, and issues without dead letters. After that each day of deliveries is dropped as a whole. The database keeps at least [what its owner set](operations.md#how-long-data-is-kept), 7 days by default",
    }),
    eventsMonths: kept(
      "EVENTS_MONTHS",
      wholeNumber(1, 1200, "months"),
      "whole months before the current one for which events are kept; `none` keeps them for good. See [operations](operations.md#how-long-data-is-kept)",
    ),
    inboxMonths: kept(
      "INBOX_MONTHS",
      wholeNumber(1, 1200, "months"),
      "whole months before the current one for which the events are kept that partners sent; `none` keeps them for good. Their ids are kept for good, so that none is applied twice",
    ),
    deadLettersDays: kept(
      "DEAD_LETTERS_DAYS",
      wholeNumber(1, 3650, "days"),
      "time for which dead letters are kept, replayed or not; with `none` they stay until an operator removes them",
    ),
    recipientsMonths: kept(
      "RECIPIENTS_MONTHS",
      wholeNumber(1, 1200, "months"),
      "time after the end of their campaign when recipients are erased; `none` keeps them for good. See [clinicians](clinicians.md#recipients-past-their-retention) before you set it",
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
