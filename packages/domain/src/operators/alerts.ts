/** The database's data about the alerts in `deploy/kubernetes/alerts.yaml`; 1 for true, 0 for false. */
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

/** An alert that can be evaluated from the database. Name, severity, threshold and delay equal those in `deploy/kubernetes/alerts.yaml`. */
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
    found: () => "No worker runs, so e-mails and webhooks aren't sent. They stay queued in the database.",
    advice:
      "Start a worker. If it exits immediately, standard error shows the reason. See also the checks on the System page.",
  },
  {
    ...{ name: "OutreachWorkersPaused", severity: "critical", reading: "workersPaused", unit: "count" },
    ...{ threshold: 0, delay: "1m" },
    found: () => "The workers are paused because the database was restored, promoted or moved.",
    advice: "Follow the section of the on-call guide for your case.",
  },
  {
    ...{ name: "OutreachDeliveriesLate", severity: "critical", reading: "liveOldestSeconds", unit: "seconds" },
    ...{ threshold: 60, delay: "5m" },
    found: (value) => `A delivery to a working endpoint has been due for ${value}.`,
    advice:
      "Compare due deliveries with those in flight. At the limit, raise WEBHOOK_CALLS_IN_FLIGHT or add workers; below it, search the workers' log for `deliver failed`.",
  },
  {
    ...{ name: "OutreachEndpointBehind", severity: "warning", reading: "liveMaxLagSeconds", unit: "seconds" },
    ...{ threshold: 300, delay: "5m" },
    found: (value) => `A working endpoint is ${value} behind.`,
    advice: "If the partner can handle more, raise WEBHOOK_CALLS_PER_ENDPOINT or remove the endpoint's limits.",
  },
  {
    ...{ name: "OutreachPartnerDown", severity: "warning", reading: "probedOldestSeconds", unit: "seconds" },
    ...{ threshold: 3600, delay: "1m" },
    found: (value) => `A partner has accepted nothing for ${value}.`,
    advice: "Tell the partner. A test event shows whether its name, address, port or certificate is the problem.",
  },
  {
    ...{ name: "OutreachEndpointFailing", severity: "warning", reading: "endpointsFailing", unit: "count" },
    ...{ threshold: 0, delay: "1m" },
    found: (value) => `Endpoints that have failed for a day or were disabled for it: ${value}.`,
    advice:
      "Today lists them. Make sure that their organizations have contacts. Enabling an endpoint shows the events that it missed.",
  },
  {
    ...{ name: "OutreachDeadLettersLeft", severity: "warning", reading: "deadLetters", unit: "count" },
    ...{ threshold: 0, delay: "1d" },
    found: (value) => `Dead letters not replayed or removed: ${value}.`,
    advice: "Fix the cause and replay them, or remove them.",
  },
  {
    ...{ name: "OutreachMessagesLate", severity: "warning", reading: "messagesOldestSeconds", unit: "seconds" },
    ...{ threshold: 900, delay: "1m" },
    found: (value) => `An e-mail has been due for ${value}.`,
    advice:
      "Does the mail server accept connections, or does it defer? Are MAIL_PER_MINUTE and MAIL_PER_DOMAIN_MINUTE high enough?",
  },
  {
    ...{ name: "OutreachMessagesQuarantined", severity: "warning", reading: "messagesQuarantined", unit: "count" },
    ...{ threshold: 0, delay: "1m" },
    found: (value) => `E-mails with an unknown outcome: ${value}.`,
    advice: "The campaign lists them. Search the mail server's log for their Message-IDs.",
  },
  {
    ...{ name: "OutreachCampaignComplaintsHigh", severity: "critical", reading: "campaignsHigh", unit: "count" },
    ...{ threshold: 0, delay: "1m" },
    found: (value) => `Campaigns reported as spam by at least 0.3% of their recipients: ${value}.`,
    advice: "Today lists them. Pause them, before mailbox providers reject all your e-mails.",
  },
  {
    ...{ name: "OutreachCampaignComplaints", severity: "warning", reading: "campaignsRaised", unit: "count" },
    ...{ threshold: 0, delay: "1m" },
    found: (value) => `Campaigns reported as spam by at least 0.1% of their recipients: ${value}.`,
    advice: "Today lists them. Ask where their addresses come from. Campaigns can pause automatically at 0.3%.",
  },
  {
    ...{ name: "OutreachUnsubscriptionsWait", severity: "critical", reading: "unsubscriptionsOldestSeconds" },
    ...{ unit: "seconds", threshold: 120, delay: "1m" },
    found: (value) => `A recipient who unsubscribed ${value} ago isn't suppressed yet.`,
    advice: "Search the workers' log for `unsubscribe`. If a worker died, its leases expire within 100 s.",
  },
  {
    ...{ name: "OutreachInboxWaits", severity: "warning", reading: "inboxOldestSeconds", unit: "seconds" },
    ...{ threshold: 120, delay: "1m" },
    found: (value) => `An inbound event has been pending for ${value}.`,
    advice: "Search the workers' log for `applyInbox`.",
  },
  {
    ...{ name: "OutreachInboxSetAside", severity: "warning", reading: "inboxQuarantined", unit: "count" },
    ...{ threshold: 0, delay: "1m" },
    found: (value) => `Inbound events that could not be applied: ${value}.`,
    advice: "The inbox shows the reason. After you or the partner have fixed it, replay them.",
  },
  {
    ...{ name: "OutreachHitsWait", severity: "warning", reading: "hitsOldestSeconds", unit: "seconds" },
    ...{ threshold: 120, delay: "1m" },
    found: (value) => `An open or click has been pending for ${value}.`,
    advice: "Search the workers' log for `judgeHits`.",
  },
  {
    ...{ name: "OutreachRowsNotCleared", severity: "warning", reading: "deliveriesDeadRows", unit: "count" },
    ...{ threshold: 1e6, delay: "15m" },
    found: (value) => `The table deliveries has ${value} dead rows.`,
    advice: "Find the transaction that blocks vacuum. If there is none: is autovacuum on, and does it reach the table?",
  },
  {
    ...{ name: "OutreachHorizonHeld", severity: "warning", reading: "horizonSeconds", unit: "seconds" },
    ...{ threshold: 600, delay: "1m" },
    found: (value) => `A transaction has blocked vacuum for ${value}.`,
    advice:
      "Find it with `select pid, usename, application_name, xact_start from pg_stat_activity order by xact_start`, and end it with pg_terminate_backend.",
  },
  {
    ...{ name: "OutreachClockAhead", severity: "warning", reading: "clockAheadSeconds", unit: "seconds" },
    ...{ threshold: 60, delay: "1m" },
    found: (value) => `The clock of an organization is ${value} ahead of the database's.`,
    advice: "Check the time synchronization of the database's machine.",
  },
  {
    ...{ name: "OutreachClockDoubted", severity: "warning", reading: "clockDoubted", unit: "count" },
    ...{ threshold: 0, delay: "1m" },
    found: () => "A worker doesn't trust the database's clock, so no data is deleted or erased by age.",
    advice:
      "The checks on the System page show the reason. Check the time synchronization of the database's and the workers' machines.",
  },
]

/** Returns the active alerts, critical ones first. */
export const activeAlerts = (reading: AlertReading): ReadonlyArray<AlertRule & { readonly value: number }> =>
  ALERT_RULES.map((rule) => ({ ...rule, value: reading[rule.reading] }))
    .filter(({ value, threshold }) => value > threshold)
    .toSorted((a, b) => Number(b.severity === "critical") - Number(a.severity === "critical"))
