import { formatCapped, formatCount, formatCounted, formatDuration, formatShare } from "@outreach/backoffice/format"
import type { Tone } from "@outreach/backoffice/lists/List"
import type { Today } from "@outreach/backoffice/today/TodayReader"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import { ALERT_RULES, type AlertReading } from "@outreach/domain/operators/alerts"

/** The content of a tile. */
export interface TodayTile {
  readonly name: string
  readonly title: string
  readonly href: string
  readonly tone: Tone
  readonly value: string
  readonly detail: string
}

export const todayTiles = (today: Today): ReadonlyArray<TodayTile> => [
  sendingTile(today),
  {
    name: "oldest-due",
    title: "Oldest due delivery",
    href: "/endpoints",
    tone: isAlerting("liveOldestSeconds", today.oldestDueSeconds) ? "bad" : "good",
    value: today.oldestDueSeconds === 0 ? "None" : formatDuration(today.oldestDueSeconds),
    detail: "to working endpoints",
  },
  {
    name: "breakers",
    title: "Open breakers",
    href: "/endpoints?state=failing",
    tone: today.breakersOpen > 0 ? "bad" : "good",
    value: formatCount(today.breakersOpen),
    detail: "endpoints that only receive probes",
  },
  {
    name: "failing",
    title: "Causes of failing calls",
    href: "/issues?state=lasting",
    tone: today.failing > 0 ? "bad" : "good",
    value: formatCount(today.failing),
    detail: "webhooks that fail",
  },
  {
    name: "dead-letters",
    title: "Dead letters",
    href: "/issues?state=dead",
    tone: today.deadLetters > 0 ? "warning" : "good",
    value: formatCount(today.deadLetters),
    detail: "not replayed or removed",
  },
  {
    name: "quarantined",
    title: "Quarantined inbound events",
    href: "/inbox",
    tone: today.inboxQuarantined > 0 ? "warning" : "good",
    value: formatCapped(today.inboxQuarantined, COUNT_CAP),
    detail: "can't be applied",
  },
  {
    name: "domains",
    title: "Rejecting domains",
    href: "#domains",
    tone: today.domainsRefusing > 0 ? "warning" : "good",
    value: formatCount(today.domainsRefusing),
    detail: "paused temporarily",
  },
  quotaTile(today),
  ...(today.workers === null ? [] : [workersTile(today.workers)]),
]

const isAlerting = (reading: keyof AlertReading, value: number): boolean =>
  ALERT_RULES.some((rule) => rule.reading === reading && value > rule.threshold)

const sendingTile = ({ sending: { campaigns, sentInLastMinute, remaining } }: Today): TodayTile => {
  const isStuck = sentInLastMinute === 0 && remaining !== 0
  const parts = [
    formatCounted(campaigns, "campaign"),
    ...(remaining === null ? [] : [`${formatCount(remaining)} left`]),
    ...(remaining === null || remaining === 0 || sentInLastMinute === 0
      ? []
      : [`about ${formatDuration((remaining / sentInLastMinute) * 60)}`]),
  ]
  return {
    name: "sending",
    title: "Sending now",
    href: "/campaigns?status=sending",
    tone: campaigns === 0 ? "neutral" : isStuck ? "warning" : "good",
    value: campaigns === 0 && sentInLastMinute === 0 ? "None" : `${formatCount(sentInLastMinute)} per minute`,
    detail: campaigns === 0 ? "no active campaigns" : parts.join(", "),
  }
}

const quotaTile = ({ quota }: Today): TodayTile => {
  const tile = { name: "quota", title: "Quota closest to target" }
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

const workersTile = (workers: number): TodayTile => ({
  name: "workers",
  title: "Workers alive",
  href: "/system",
  tone: workers === 0 ? "bad" : "good",
  value: formatCount(workers),
  detail: workers === 0 ? "sending and delivery stopped" : "sending and delivering",
})
