import { FACTS, type Fact, type FactName, type FactValues, totalOf } from "./facts.ts"

/** An alert on a fact. `deploy/kubernetes/alerts.yaml` has the same ones for Prometheus, and others that the database can't evaluate. */
export interface Alert {
  readonly name: string
  readonly severity: "critical" | "warning"
  readonly fact: FactName
  /** The value of the fact's label. Default: all of them. */
  readonly of?: string
  /** Active while the fact exceeds this. Default 0. */
  readonly above?: number
  /** Active while the fact is lower, instead of higher. */
  readonly below?: number
  /** Prometheus's `for`. Default one minute. */
  readonly delay: string
  /** Describes the alert; `value` is the fact with its unit. */
  readonly found: (value: string) => string
  readonly advice: string
}

const alertOf =
  (severity: Alert["severity"]) =>
  (name: string, fact: FactName, options: Omit<Alert, "name" | "severity" | "fact" | "delay"> & { delay?: string }) =>
    ({ name, severity, fact, delay: "1m", ...options }) satisfies Alert
const critical = alertOf("critical")
const warning = alertOf("warning")

/** Returns the alert's section in the documentation. */
export const runbookOf = ({ name }: Pick<Alert, "name">): string => `docs/on-call.md#${name.toLowerCase()}`

export const ALERTS: ReadonlyArray<Alert> = [
  critical("OutreachNoWorker", "workers", {
    below: 1,
    delay: "2m",
    found: () => "No worker runs, so e-mails and webhooks aren't sent. They stay queued in the database.",
    advice:
      "Start a worker. If it exits immediately, standard error shows the reason. See also the checks on the System page.",
  }),
  critical("OutreachWorkersPaused", "workersPaused", {
    found: () => "The workers are paused because the database was restored, promoted or moved.",
    advice: "Follow the section of the on-call guide for your case.",
  }),
  critical("OutreachDeliveriesLate", "deliveriesOldestSeconds", {
    of: "live",
    above: 60,
    delay: "5m",
    found: (age) => `A delivery to a working endpoint has been due for ${age}.`,
    advice:
      "Compare due deliveries with those in flight. At the limit, raise WEBHOOK_CALLS_IN_FLIGHT or add workers; below it, search the workers' log for `deliver failed`.",
  }),
  warning("OutreachEndpointBehind", "maxLagSeconds", {
    of: "live",
    above: 300,
    delay: "5m",
    found: (lag) => `A working endpoint is ${lag} behind.`,
    advice: "If the partner can handle more, raise WEBHOOK_CALLS_PER_ENDPOINT or remove the endpoint's limits.",
  }),
  warning("OutreachPartnerDown", "deliveriesOldestSeconds", {
    of: "probed",
    above: 3600,
    found: (age) => `A partner has accepted nothing for ${age}.`,
    advice: "Tell the partner. A test event shows whether its name, address, port or certificate is the problem.",
  }),
  warning("OutreachEndpointFailing", "endpointsFailing", {
    found: (count) => `Endpoints that have failed for a day or were disabled for it: ${count}.`,
    advice:
      "Today lists them. Make sure that their organizations have contacts. Enabling an endpoint shows the events that it missed.",
  }),
  warning("OutreachDeadLettersLeft", "deadLetters", {
    delay: "1d",
    found: (count) => `Dead letters not replayed or removed: ${count}.`,
    advice: "Fix the cause and replay them, or remove them.",
  }),
  warning("OutreachMessagesLate", "messagesOldestSeconds", {
    above: 900,
    found: (age) => `An e-mail has been due for ${age}.`,
    advice:
      "Does the mail server accept connections, or does it defer? Are MAIL_PER_MINUTE and MAIL_PER_DOMAIN_MINUTE high enough?",
  }),
  warning("OutreachMessagesQuarantined", "messagesQuarantined", {
    found: (count) => `E-mails with an unknown outcome: ${count}.`,
    advice: "The campaign lists them. Search the mail server's log for their Message-IDs.",
  }),
  critical("OutreachCampaignComplaintsHigh", "campaignsComplained", {
    of: "high",
    found: (count) => `Campaigns reported as spam by at least 0.3% of their recipients: ${count}.`,
    advice: "Today lists them. Pause them, before mailbox providers reject all your e-mails.",
  }),
  warning("OutreachCampaignComplaints", "campaignsComplained", {
    of: "raised",
    found: (count) => `Campaigns reported as spam by at least 0.1% of their recipients: ${count}.`,
    advice: "Today lists them. Ask where their addresses come from. Campaigns can pause automatically at 0.3%.",
  }),
  critical("OutreachUnsubscriptionsWait", "unsubscriptionsOldestSeconds", {
    above: 120,
    found: (age) => `A recipient who unsubscribed ${age} ago isn't suppressed yet.`,
    advice: "Search the workers' log for `unsubscribe`. If a worker died, its leases expire within 100 s.",
  }),
  warning("OutreachInboxWaits", "inboxOldestSeconds", {
    above: 120,
    found: (age) => `An inbound event has been pending for ${age}.`,
    advice: "Search the workers' log for `applyInbox`.",
  }),
  warning("OutreachInboxSetAside", "inboxQuarantined", {
    found: (count) => `Inbound events that could not be applied: ${count}.`,
    advice: "The inbox shows the reason. After you or the partner have fixed it, replay them.",
  }),
  warning("OutreachHitsWait", "hitsOldestSeconds", {
    above: 120,
    found: (age) => `An open or click has been pending for ${age}.`,
    advice: "Search the workers' log for `judgeHits`.",
  }),
  warning("OutreachRowsNotCleared", "deliveriesDeadRows", {
    above: 1e6,
    delay: "15m",
    found: (count) => `The table deliveries has ${count} dead rows.`,
    advice: "Find the transaction that blocks vacuum. If there is none: is autovacuum on, and does it reach the table?",
  }),
  warning("OutreachHorizonHeld", "horizonSeconds", {
    above: 600,
    found: (age) => `A transaction has blocked vacuum for ${age}.`,
    advice:
      "Find it with `select pid, usename, application_name, xact_start from pg_stat_activity order by xact_start`, and end it with pg_terminate_backend.",
  }),
  warning("OutreachClockAhead", "clockAheadSeconds", {
    above: 60,
    found: (lead) => `The clock of an organization is ${lead} ahead of the database's.`,
    advice: "Check the time synchronization of the database's machine.",
  }),
  warning("OutreachClockDoubted", "clockDoubted", {
    found: () => "A worker doesn't trust the database's clock, so no data is deleted or erased by age.",
    advice:
      "The checks on the System page show the reason. Check the time synchronization of the database's and the workers' machines.",
  }),
]

/** The facts with alerts. */
export const ALERTING_FACTS: ReadonlyArray<FactName> = [...new Set(ALERTS.map(({ fact }) => fact))]

/** An alert with the value of its fact. */
export interface ActiveAlert extends Alert, Pick<Fact, "unit" | "page"> {
  readonly value: number
  /** For how many seconds the fact has been bad; null if unknown. */
  readonly age: number | null
}

/** Returns the active alerts on some facts, critical ones first. `ages` has those of counts. */
export const activeAlerts = (
  facts: Partial<FactValues>,
  ages: { readonly [Name in FactName]?: number | null } = {},
): ReadonlyArray<ActiveAlert> =>
  ALERTS.flatMap((alert) => {
    const { fact, of, above = 0, below } = alert
    const values = facts[fact]
    if (values === undefined) return []
    const value = totalOf(fact, of === undefined ? values : (values as Readonly<Record<string, number>>)[of]!)
    const isActive = below === undefined ? value > above : value < below
    const { unit, page }: Fact = FACTS[fact]
    const age = unit === "age" ? value : (ages[fact] ?? null)
    return isActive ? [{ ...alert, unit, page, value, age }] : []
  }).toSorted((a, b) => Number(b.severity === "critical") - Number(a.severity === "critical"))
