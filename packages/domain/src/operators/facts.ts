import { Struct } from "effect"
import { DEAD_LETTER_REASONS } from "../deliveries/Delivery.ts"

/**
 * Queues of due deliveries: `live` deliveries wait for their turn, `probed` ones for a failing endpoint that only receives probes, and
 * `replay` ones were requested by an operator.
 */
export const DUE_QUEUES = ["live", "probed", "replay"] as const

/** The number of endpoints per queue for which a backlog is counted. */
export const LAGS_COUNTED = 20

/** A figure that the database measures. */
export interface Fact {
  /** An age is for how many seconds something has lasted. */
  readonly unit: "count" | "age" | "seconds"
  readonly about: string
  /** The gauge of the workers, after `outreach_`. Default: none, because each process has one, or only operators read the fact. */
  readonly gauge?: string
  /** The label of the gauge, with the values that are measured separately. */
  readonly by?: Readonly<Record<string, ReadonlyArray<string>>>
  /** Whether it is counted up to `COUNT_CAP`. */
  readonly isCapped?: true
  /** The page of the console that shows it, or the rows behind it. */
  readonly page?: string | undefined
}

const factOf =
  <Unit extends Fact["unit"]>(unit: Unit) =>
  <const Options extends Omit<Fact, "unit" | "about"> = object>(about: string, options?: Options) =>
    ({ unit, about, ...options }) as { readonly unit: Unit; readonly about: string } & Options
const count = factOf("count")
const age = factOf("age")
const seconds = factOf("seconds")

const queue = { queue: DUE_QUEUES } as const
/** Causes that keep the database from vacuuming deleted rows. */
const holder = { holder: ["session", "replication_slot", "prepared_transaction"] } as const

/** Due work that isn't in flight. Deliveries to disabled endpoints and e-mails outside their send window aren't due. */
const DUE = {
  deliveriesDue: count("Deliveries that are due and not in flight", {
    gauge: "deliveries_due",
    by: queue,
    isCapped: true,
  }),
  deliveriesOldestSeconds: age("How long the first of them has been due", {
    gauge: "deliveries_oldest_due_age_seconds",
    by: queue,
    page: "/endpoints",
  }),
  maxLagEvents: count(`The most that wait for one endpoint, of the ${LAGS_COUNTED} that have waited longest`, {
    gauge: "endpoint_max_lag_events",
    by: queue,
    isCapped: true,
  }),
  maxLagSeconds: age("How far the endpoint that has waited longest is behind", {
    gauge: "endpoint_max_lag_seconds",
    by: queue,
    page: "/endpoints",
  }),
  deliveriesInFlight: count("Deliveries in flight in all workers", { gauge: "deliveries_in_flight" }),
  messagesDue: count("E-mails that are due and not being sent", { gauge: "messages_due", isCapped: true }),
  messagesOldestSeconds: age("How long the first of them could have been sent", {
    gauge: "messages_oldest_due_age_seconds",
    page: "/campaigns?status=sending",
  }),
  inboxWaiting: count("Inbound events that wait to be applied", { gauge: "inbox_waiting", isCapped: true }),
  inboxOldestSeconds: age("How long ago the first of them was received", {
    gauge: "inbox_oldest_waiting_age_seconds",
    page: "/inbox?waiting=yes",
  }),
  hitsWaiting: count("Opens and clicks that wait to be judged", { gauge: "hits_waiting", isCapped: true }),
  hitsOldestSeconds: age(
    "For how long the first of them has waited; up to a minute is for their messages to be accepted",
    { gauge: "hits_oldest_waiting_age_seconds" },
  ),
  unsubscriptionsWaiting: count("Recipients who asked for no more e-mails and are not suppressed yet", {
    gauge: "unsubscriptions_waiting",
    isCapped: true,
  }),
  unsubscriptionsOldestSeconds: age("For how long the first of them has waited", {
    gauge: "unsubscriptions_oldest_waiting_age_seconds",
  }),
}

/** Further states of deliveries, e-mails, workers and the database. */
const STATE = {
  workers: count("Running workers", { page: "/system" }),
  workersPaused: count("1 while the workers are paused because the database was restored or moved"),
  breakersOpen: count("Enabled endpoints that failed repeatedly and are probed, or have just recovered", {
    gauge: "breakers_open",
    page: "/endpoints?state=failing",
  }),
  endpointsFailing: count(
    "Endpoints to which every call has failed for a day, or that were disabled for it, by whether their organization has contacts",
    { gauge: "endpoints_failing", by: { contacts: ["some", "none"] }, page: "/endpoints?state=failing" },
  ),
  failuresLasting: count("Causes for which calls to enabled endpoints keep failing, without muted ones", {
    page: "/issues?state=lasting",
  }),
  deadLetters: count("Dead letters that were not replayed, without those of muted issues", {
    gauge: "dead_letters",
    by: { reason: DEAD_LETTER_REASONS },
    page: "/issues?state=dead",
  }),
  messagesQuarantined: count("E-mails with an unknown outcome that aren't retried", {
    gauge: "messages_quarantined",
    isCapped: true,
    page: "/campaigns",
  }),
  campaignsComplained: count(
    "Campaigns about which recipients have complained in the last seven days, by whether their share has reached 0.1 % (raised) or 0.3 % (high)",
    { gauge: "campaigns_complained", by: { level: ["raised", "high"] }, page: "/campaigns" },
  ),
  inboxQuarantined: count("Inbound events that could not be applied and were not replayed", {
    gauge: "inbox_set_aside",
    isCapped: true,
    page: "/inbox",
  }),
  deliveriesRows: count("Rows of the delivery queue, due or not: the database's estimate", {
    gauge: "deliveries_rows",
  }),
  deliveriesDeadRows: count("Remains of rows in the delivery queue: the database's estimate", {
    gauge: "deliveries_dead_rows",
  }),
  horizonTransactions: count("Transactions since the oldest one that may still see deleted rows", {
    gauge: "database_horizon_age_transactions",
    by: holder,
  }),
  horizonSeconds: age("How long that one has been open; a replication slot does not say", {
    gauge: "database_horizon_age_seconds",
    by: holder,
  }),
  clockAheadSeconds: seconds("How far the clock of an organization is ahead of the database's, at most", {
    gauge: "organization_clock_ahead_seconds",
  }),
  clockDoubted: count("1 while a worker doesn't trust the database's clock, so that no data is deleted by age", {
    gauge: "clock_doubted",
  }),
}

/** All facts, by name. */
export const FACTS = { ...STATE, ...DUE }
export type FactName = keyof typeof FACTS

/** The facts that the workers measure together: a slow reading doesn't delay the other one. */
export const READINGS = { due: Struct.keys(DUE), state: Struct.keys(STATE) }

type ValueOf<F> = F extends { readonly by: Readonly<Record<string, ReadonlyArray<infer Value extends string>>> }
  ? Readonly<Record<Value, number>>
  : number

/** The values of facts, with the values of a label by its value. */
export type FactValues<Name extends FactName = FactName> = { readonly [N in Name]: ValueOf<(typeof FACTS)[N]> }

/** Returns one value for all values of a label: the sum of counts, or the longest time. */
export const totalOf = (name: FactName, value: number | Readonly<Record<string, number>>): number => {
  if (typeof value === "number") return value
  const values = Object.values(value)
  return FACTS[name].unit === "count" ? values.reduce((sum, each) => sum + each, 0) : Math.max(...values)
}
