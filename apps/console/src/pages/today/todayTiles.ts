import { formatCapped, formatCount, formatCounted, formatDuration, formatShare } from "@outreach/backoffice/format"
import type { Tone } from "@outreach/backoffice/operations/List"
import type { Today } from "@outreach/backoffice/today/TodayReader"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import { activeAlerts } from "@outreach/domain/operators/alerts"
import { FACTS, type FactValues, totalOf } from "@outreach/domain/operators/facts"

/** The content of a tile. */
export interface TodayTile {
  readonly title: string
  readonly href: string
  readonly tone: Tone
  readonly value: string
  readonly detail: string
}

/** The facts that Today shows. */
export const TODAY_FACTS = [
  "deliveriesOldestSeconds",
  "breakersOpen",
  "failuresLasting",
  "deadLetters",
  "inboxQuarantined",
  "domainsRejecting",
  "workers",
] as const
type Facts = FactValues<(typeof TODAY_FACTS)[number]>

export const todayTiles = (today: Today, facts: Facts): ReadonlyArray<TodayTile> => [
  sendingTile(today),
  oldestDueTile(facts),
  countTile("breakersOpen", facts.breakersOpen),
  countTile("failuresLasting", facts.failuresLasting),
  countTile("deadLetters", totalOf("deadLetters", facts.deadLetters)),
  countTile("inboxQuarantined", facts.inboxQuarantined),
  countTile("domainsRejecting", facts.domainsRejecting),
  quotaTile(today),
]

/** The counts that should be 0, with the tone otherwise. */
const COUNTS = {
  breakersOpen: ["Open breakers", "bad", "endpoints that only receive probes"],
  failuresLasting: ["Causes of failing calls", "bad", "webhooks that fail"],
  deadLetters: ["Dead letters", "warning", "not replayed or removed"],
  inboxQuarantined: ["Quarantined inbound events", "warning", "can't be applied"],
  domainsRejecting: ["Rejecting domains", "warning", "paused temporarily"],
} as const

const countTile = (name: keyof typeof COUNTS, count: number): TodayTile => {
  const [title, tone, detail] = COUNTS[name]
  const value = name === "inboxQuarantined" ? formatCapped(count, COUNT_CAP) : formatCount(count)
  return { title, href: FACTS[name].page, detail, tone: count > 0 ? tone : "good", value }
}

const oldestDueTile = (facts: Facts): TodayTile => ({
  title: "Oldest due delivery",
  href: FACTS.deliveriesOldestSeconds.page,
  tone: activeAlerts(facts).some(({ name }) => name === "OutreachDeliveriesLate") ? "bad" : "good",
  value: facts.deliveriesOldestSeconds.live === 0 ? "None" : formatDuration(facts.deliveriesOldestSeconds.live),
  detail: "to working endpoints",
})

const sendingTile = ({ sending: { campaigns, sentInLastMinute, remaining } }: Today): TodayTile => {
  const isStuck = sentInLastMinute === 0 && remaining !== 0
  const left = remaining === null ? "" : `, ${formatCount(remaining)} left`
  const isMoving = remaining !== null && remaining > 0 && sentInLastMinute > 0
  const time = isMoving ? `, about ${formatDuration((remaining / sentInLastMinute) * 60)}` : ""
  return {
    title: "Sending now",
    href: "/campaigns?status=sending",
    tone: campaigns === 0 ? "neutral" : isStuck ? "warning" : "good",
    value: campaigns === 0 && sentInLastMinute === 0 ? "None" : `${formatCount(sentInLastMinute)} per minute`,
    detail: campaigns === 0 ? "no active campaigns" : `${formatCounted(campaigns, "campaign")}${left}${time}`,
  }
}

const quotaTile = ({ quota }: Today): TodayTile => {
  const tile = { title: "Quota closest to target" }
  if (quota === null) return { ...tile, href: "/programs", tone: "neutral", value: "–", detail: "no targets" }
  const { programId, program, stage, count, target } = quota
  return {
    ...tile,
    href: `/programs/${programId}`,
    tone: count >= target ? "neutral" : "good",
    value: formatShare(count / target),
    detail: `${formatCount(count)} of ${formatCount(target)} ${stage}s of ${program}`,
  }
}

/** The tile of the running workers, which belong to no organization. */
export const workersTile = ({ workers }: Facts): TodayTile => ({
  title: "Workers alive",
  href: FACTS.workers.page,
  tone: workers === 0 ? "bad" : "good",
  value: formatCount(workers),
  detail: workers === 0 ? "sending and delivery stopped" : "sending and delivering",
})
