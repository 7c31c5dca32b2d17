import { noneOr, wholeNumber } from "@outreach/domain/textSchema"
import { smtpSettings } from "@outreach/mail/smtpSettings"
import { databaseConnections, databaseSettings } from "@outreach/postgres-connection/databaseSettings"
import { dnsServers } from "@outreach/process/dnsServers"
import { configError, setting } from "@outreach/process/setting"
import {
  adminHost,
  deployment,
  optionalConsoleUrl,
  publicBaseUrl,
  secretsKey,
  webhookAllowPrivateAddresses,
  webhookRetryDelays,
} from "@outreach/process/settings"
import { Config, Effect, Schema } from "effect"
import { readCertificate } from "./mail/certificate.ts"

/** `BOUNCE_TLS_CERT` and `BOUNCE_TLS_KEY`: the files of a certificate, with its chain, and of its key, in PEM, for STARTTLS on the port for bounces. Default: none. */
const bounceCertificate = Config.all({
  certFile: setting("BOUNCE_TLS_CERT", Schema.String, ""),
  keyFile: setting("BOUNCE_TLS_KEY", Schema.String, ""),
}).pipe(
  Config.mapEffect((files) => {
    if (files.certFile === "" && files.keyFile === "") return Effect.succeed(null)
    if (files.certFile === "") return configError("BOUNCE_TLS_KEY is set and BOUNCE_TLS_CERT is not; set both or none.")
    if (files.keyFile === "") return configError("BOUNCE_TLS_CERT is set and BOUNCE_TLS_KEY is not; set both or none.")
    const certificate = readCertificate(files)
    return "problem" in certificate
      ? configError(`BOUNCE_TLS_CERT and BOUNCE_TLS_KEY cannot be used: ${certificate.problem}.`)
      : Effect.succeed(certificate)
  }),
)

/** `FAILOVER_SECONDS`: how long a failover to a synchronous standby may take; 0 when every promotion waits for an operator. Default 0. */
export const failoverSeconds = setting("FAILOVER_SECONDS", wholeNumber(0, 3600), "0")

const mail = Config.all({
  smtp: smtpSettings,
  /** `MAIL_PER_MINUTE`: how many e-mails all workers together send in a minute; 0 for no bound. Default 0. */
  perMinute: rate("MAIL_PER_MINUTE"),
  /** `MAIL_PER_DOMAIN_MINUTE`: how many of them may go to one recipient domain; 0 for no bound. Default 0. */
  perDomainMinute: rate("MAIL_PER_DOMAIN_MINUTE"),
  /** `MAIL_PER_OPERATOR_MINUTE`: how many of them may go to the domains of one mail operator, by the MX records of the domains; 0 for no bound. Default 0. */
  perOperatorMinute: rate("MAIL_PER_OPERATOR_MINUTE"),
  bounceCertificate,
}).pipe(Config.map(({ smtp, ...mail }) => ({ ...mail, ...smtp })))

/** After how many hours without a success, while calls were made, organizations are notified of an endpoint, and it is disabled. */
const failing = Config.all({
  /** `WEBHOOK_FAILING_NOTICE_HOURS`: after how many hours the contacts of its organization are notified of it; `none` for never. Default 24. */
  notice: failingHours("WEBHOOK_FAILING_NOTICE_HOURS", "24"),
  /** `WEBHOOK_FAILING_REMINDER_HOURS`: after how many hours they are notified again; `none` for never. Default 72. */
  reminder: failingHours("WEBHOOK_FAILING_REMINDER_HOURS", "72"),
  /** `WEBHOOK_FAILING_DISABLE_HOURS`: after how many hours it is disabled; `none` for never. Default 120. */
  disable: failingHours("WEBHOOK_FAILING_DISABLE_HOURS", "120"),
}).pipe(
  Config.mapEffect((hours) => {
    const given = [hours.notice, hours.reminder, hours.disable].filter((each) => each !== null)
    return given.every((each, i) => i === 0 || each > given[i - 1]!)
      ? Effect.succeed(hours)
      : configError(
          "WEBHOOK_FAILING_NOTICE_HOURS, WEBHOOK_FAILING_REMINDER_HOURS and WEBHOOK_FAILING_DISABLE_HOURS must rise in this order.",
        )
  }),
)

/** What the worker reads from its environment, beside what `telemetry` reads. */
export const WorkerConfig = Config.all({
  database: databaseSettings,
  databaseConnections: databaseConnections(10),
  secretsKey,
  deployment,
  publicBaseUrl,
  mail,
  webhookRetryDelays,
  webhookAllowPrivateAddresses,
  webhooks: Config.all({
    /** `WEBHOOK_CALL_SECONDS`: how long a whole call may take, from name resolution to the headers of the response. Default 15. */
    callSeconds: setting("WEBHOOK_CALL_SECONDS", wholeNumber(1, 120), "15"),
    /** `WEBHOOK_LEASE_SECONDS`: for how long a worker that says nothing keeps its endpoints; then others take them. At most 45: a worker that says it lives for a minute more is not believed. Default 9. */
    leaseSeconds: setting("WEBHOOK_LEASE_SECONDS", wholeNumber(2, 45), "9"),
    /** `WEBHOOK_CALLS_IN_FLIGHT`: how many calls one worker makes at once. Default 512. */
    maxInFlight: setting("WEBHOOK_CALLS_IN_FLIGHT", wholeNumber(1, 10_000), "512"),
    /** `WEBHOOK_CALLS_PER_ENDPOINT`: how many of them may go to one endpoint. Default 16. */
    perEndpoint: setting("WEBHOOK_CALLS_PER_ENDPOINT", wholeNumber(1, 1000), "16"),
  }),
  failing,
  consoleUrl: optionalConsoleUrl,
  dnsServers,
  /** `DRAIN_SECONDS`: how long calls and messages in flight may take to finish after the signal to stop; those that do not finish are due again when their lease ends. Default 20. */
  drainSeconds: setting("DRAIN_SECONDS", wholeNumber(0, 300), "20"),
  failoverSeconds,
  retention: Config.all({
    /** `HISTORY_DAYS`: for how many days deliveries that arrived are remembered. Default 90. */
    historyDays: setting("HISTORY_DAYS", wholeNumber(1, 3650), "90"),
    /** `EVENTS_MONTHS`: for how many whole months before the current one events are kept; `none` keeps all. Default `none`. */
    eventsMonths: setting("EVENTS_MONTHS", noneOr(wholeNumber(1, 1200)), "none"),
    /** `INBOX_MONTHS`: for how many whole months before the current one the events are kept that partners sent; `none` keeps all. Default `none`. */
    inboxMonths: setting("INBOX_MONTHS", noneOr(wholeNumber(1, 1200)), "none"),
    /** `DEAD_LETTERS_DAYS`: for how many days dead letters are kept, replayed or not; `none` keeps all. Default `none`. */
    deadLettersDays: setting("DEAD_LETTERS_DAYS", noneOr(wholeNumber(1, 3650)), "none"),
    /** `RECIPIENTS_MONTHS`: how many months after the end of their campaign recipients are erased; `none` keeps them. Default `none`. */
    recipientsMonths: setting("RECIPIENTS_MONTHS", noneOr(wholeNumber(1, 1200)), "none"),
  }),
  adminHost,
  /** `ADMIN_PORT`: the port that serves operators; 0 takes any that is free. Default 9464. */
  adminPort: setting("ADMIN_PORT", wholeNumber(0, 65_535), "9464"),
})

function rate(name: string): Config.Config<number | null> {
  return Config.map(setting(name, wholeNumber(0, 999_999), "0"), (perMinute) => perMinute || null)
}

function failingHours(name: string, hours: string): Config.Config<number | null> {
  return setting(name, noneOr(wholeNumber(1, 8760)), hours)
}
