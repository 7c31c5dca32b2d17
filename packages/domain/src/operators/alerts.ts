/** The database's data about the alerts in `deploy/alerts.yml`; 1 for true, 0 for false. */
export interface AlertReading {
  readonly noWorker: number
  readonly workersPaused: number
  /** Age of the oldest due delivery to a working endpoint. */
  readonly liveOldestSeconds: number
  readonly liveMaxLagSeconds: number
  readonly probedOldestSeconds: number
  readonly endpointsFailing: number
  readonly deadLetters: number
  readonly messagesOldestSeconds: number
  readonly messagesQuarantined: number
  /** Campaigns with complaints between the two thresholds of mailbox providers. */
  readonly campaignsRaised: number
  readonly campaignsHigh: number
  readonly unsubscriptionsOldestSeconds: number
  readonly inboxOldestSeconds: number
  readonly inboxQuarantined: number
  readonly hitsOldestSeconds: number
  readonly deliveriesDeadRows: number
  readonly horizonSeconds: number
  readonly clockAheadSeconds: number
  readonly clockDoubted: number
}

/** An alert that can be evaluated from the database. Name, severity, threshold and delay equal those in `deploy/alerts.yml`. */
export interface AlertRule {
  readonly name: string
  readonly severity: "critical" | "warning"
  readonly reading: keyof AlertReading
  readonly unit: "seconds" | "count"
  /** Active while the reading exceeds this. */
  readonly threshold: number
  /** Prometheus's `for`. */
  readonly delay: string
  /** Describes the alert; `value` is the reading with its unit. */
  readonly found: (value: string) => string
  readonly advice: string
}

/** Returns the alert's section in the documentation. */
export const runbookOf = ({ name }: Pick<AlertRule, "name">): string => `docs/on-call.md#${name.toLowerCase()}`

/** Alerts that can be evaluated from the database; only Prometheus knows the others. */
export const ALERT_RULES: ReadonlyArray<AlertRule> = [
  {
    ...{
      name: "OutreachNoWorker",
      severity: "critical",
      reading: "noWorker",
      unit: "count",
      threshold: 0,
      delay: "2m",
    },
    found: () =>
      "No worker runs, so nothing is sent and nothing is delivered. Nothing is lost: it waits in the database.",
    advice:
      "Start a worker. One that stops at once writes the reason to standard error. The checks on the System page describe other faults.",
  },
  {
    ...{ name: "OutreachWorkersPaused", severity: "critical", reading: "workersPaused", unit: "count" },
    ...{ threshold: 0, delay: "1m" },
    found: () => "The workers send nothing, because the database was restored, promoted or moved.",
    advice: "Follow the section of the operations guide: it depends on what happened to the database.",
  },
  {
    ...{ name: "OutreachDeliveriesLate", severity: "critical", reading: "liveOldestSeconds", unit: "seconds" },
    ...{ threshold: 60, delay: "5m" },
    found: (value) => `A delivery to an endpoint that works has been due for ${value}.`,
    advice:
      "Compare what is due with what is in flight. At the bound, raise WEBHOOK_CALLS_IN_FLIGHT or add workers; below it, look for `deliver failed` in the workers' log.",
  },
  {
    ...{ name: "OutreachEndpointBehind", severity: "warning", reading: "liveMaxLagSeconds", unit: "seconds" },
    ...{ threshold: 300, delay: "5m" },
    found: (value) => `An endpoint that works is ${value} behind its log of events.`,
    advice: "If the partner can take more, raise WEBHOOK_CALLS_PER_ENDPOINT, or lift the endpoint's own bound.",
  },
  {
    ...{ name: "OutreachPartnerDown", severity: "warning", reading: "probedOldestSeconds", unit: "seconds" },
    ...{ threshold: 3600, delay: "1m" },
    found: (value) => `A partner has accepted nothing for ${value}.`,
    advice: "Tell the partner. A test event shows whether its name, address, port or certificate is at fault.",
  },
  {
    ...{ name: "OutreachEndpointFailing", severity: "warning", reading: "endpointsFailing", unit: "count" },
    ...{ threshold: 0, delay: "1m" },
    found: (value) => `Endpoints to which every call has failed for a day, or that were disabled for it: ${value}.`,
    advice: "Today names them. See that their organizations have contacts; enabling one shows what it missed.",
  },
  {
    ...{ name: "OutreachDeadLettersLeft", severity: "warning", reading: "deadLetters", unit: "count" },
    ...{ threshold: 0, delay: "1d" },
    found: (value) => `Dead letters that were neither replayed nor removed: ${value}.`,
    advice: "Mend the cause, and replay them; remove what nobody will miss.",
  },
  {
    ...{ name: "OutreachMessagesLate", severity: "warning", reading: "messagesOldestSeconds", unit: "seconds" },
    ...{ threshold: 900, delay: "1m" },
    found: (value) => `An e-mail has been due for ${value}.`,
    advice:
      "Does the mail server take connections, or does it defer? Do MAIL_PER_MINUTE and MAIL_PER_DOMAIN_MINUTE allow what the campaigns need?",
  },
  {
    ...{ name: "OutreachMessagesQuarantined", severity: "warning", reading: "messagesQuarantined", unit: "count" },
    ...{ threshold: 0, delay: "1m" },
    found: (value) => `E-mails of which nobody knows whether they were delivered: ${value}.`,
    advice: "The campaign lists them; the mail server's log says by the Message-ID whether it took them.",
  },
  {
    ...{ name: "OutreachCampaignComplaintsHigh", severity: "critical", reading: "campaignsHigh", unit: "count" },
    ...{ threshold: 0, delay: "1m" },
    found: (value) => `Campaigns that 0.3 % of their recipients or more have reported as unwanted: ${value}.`,
    advice: "Today names them. Pause them, before mailbox providers refuse everything that you send.",
  },
  {
    ...{ name: "OutreachCampaignComplaints", severity: "warning", reading: "campaignsRaised", unit: "count" },
    ...{ threshold: 0, delay: "1m" },
    found: (value) => `Campaigns that 0.1 % of their recipients or more have reported as unwanted: ${value}.`,
    advice: "Today names them. Ask where their addresses come from; a campaign can be paused at 0.3 % by itself.",
  },
  {
    ...{ name: "OutreachUnsubscriptionsWait", severity: "critical", reading: "unsubscriptionsOldestSeconds" },
    ...{ unit: "seconds", threshold: 120, delay: "1m" },
    found: (value) => `Somebody who unsubscribed ${value} ago is not suppressed yet.`,
    advice: "Look for `unsubscribe` in the workers' log. Where a worker died, its leases end after 100 s at most.",
  },
  {
    ...{ name: "OutreachInboxWaits", severity: "warning", reading: "inboxOldestSeconds", unit: "seconds" },
    ...{ threshold: 120, delay: "1m" },
    found: (value) => `An inbound event has waited for ${value}.`,
    advice: "Look for `applyInbox` in the workers' log.",
  },
  {
    ...{ name: "OutreachInboxSetAside", severity: "warning", reading: "inboxQuarantined", unit: "count" },
    ...{ threshold: 0, delay: "1m" },
    found: (value) => `Inbound events that could not be applied: ${value}.`,
    advice: "The inbox says why. Mend it, or have the partner mend it, and replay them.",
  },
  {
    ...{ name: "OutreachHitsWait", severity: "warning", reading: "hitsOldestSeconds", unit: "seconds" },
    ...{ threshold: 120, delay: "1m" },
    found: (value) => `An open or a click has waited for ${value}.`,
    advice: "Look for `judgeHits` in the workers' log.",
  },
  {
    ...{ name: "OutreachRowsNotCleared", severity: "warning", reading: "deliveriesDeadRows", unit: "count" },
    ...{ threshold: 1e6, delay: "15m" },
    found: (value) => `The table of deliveries holds the remains of ${value} rows.`,
    advice: "Find who holds the horizon. If nobody does: is autovacuum on, and does it get to the table?",
  },
  {
    ...{ name: "OutreachHorizonHeld", severity: "warning", reading: "horizonSeconds", unit: "seconds" },
    ...{ threshold: 600, delay: "1m" },
    found: (value) => `A transaction has kept PostgreSQL from clearing up for ${value}.`,
    advice:
      "Find it with `select pid, usename, application_name, xact_start from pg_stat_activity order by xact_start`, and end it with pg_terminate_backend.",
  },
  {
    ...{ name: "OutreachClockAhead", severity: "warning", reading: "clockAheadSeconds", unit: "seconds" },
    ...{ threshold: 60, delay: "1m" },
    found: (value) => `The clock of an organization is ${value} ahead of the database's.`,
    advice: "See to the time synchronisation of the database's machine. The System page names the organizations.",
  },
  {
    ...{ name: "OutreachClockDoubted", severity: "warning", reading: "clockDoubted", unit: "count" },
    ...{ threshold: 0, delay: "1m" },
    found: () => "A worker does not believe the database's clock, so nothing is dropped or erased by its age.",
    advice:
      "The checks on the System page give the reason. See to the time synchronisation of the database's machine and of the workers'.",
  },
]

/** Returns the active alerts, critical ones first. */
export const activeAlerts = (reading: AlertReading): ReadonlyArray<AlertRule & { readonly value: number }> =>
  ALERT_RULES.map((rule) => ({ ...rule, value: reading[rule.reading] }))
    .filter(({ value, threshold }) => value > threshold)
    .toSorted((a, b) => Number(b.severity === "critical") - Number(a.severity === "critical"))
