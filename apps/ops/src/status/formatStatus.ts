import { describeProgress } from "@outreach/backoffice/campaigns/SendingReader"
import { formatAge, formatCount } from "@outreach/backoffice/format"
import type { CampaignUnderWay, Status } from "@outreach/backoffice/inspection/readStatus"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { DUE_QUEUES } from "@outreach/domain/operators/facts"
import { drawBar } from "@outreach/process/progress"
import { formatCell } from "../output/Output.ts"

const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 0 })
const BAR_WIDTH = 10
const MAX_NAME = 16
/** `publishing` is the longest status of a running campaign. */
const STATUS_WIDTH = 10

/** Formats the status of a deployment in at most 22 lines of 80 columns. */
export const formatStatus = (status: Status): ReadonlyArray<string> => {
  const { database, deliveries, endpoints, inbox, hits, unsubscriptions, messages, campaigns } = status
  const horizon = Math.max(...Object.values(database.horizon).map(({ seconds }) => seconds))
  const enabled = Object.values(endpoints.enabled).reduce((sum, count) => sum + count, 0)
  return [
    `release ${status.release} · schema ${database.schema?.slice(0, 4) ?? "–"} · ${formatCell(status.at)}`,
    row("database", [
      `PostgreSQL ${database.version.split(" ")[0]}`,
      formatBytes(database.bytes),
      `${database.connections}/${database.maxConnections} connections`,
      `horizon ${formatAge(horizon)}`,
    ]),
    row("workers", [
      `${database.workers} alive`,
      database.clockAheadSeconds >= 1
        ? `clock of an organization ${formatAge(database.clockAheadSeconds)} ahead`
        : "clocks are right",
    ]),
    ...DUE_QUEUES.map((queue, i) => {
      const due = deliveries.due[queue]
      const lag = due.maxLagEvents > 0 ? [`at most ${counted(due.maxLagEvents)} for one endpoint`] : []
      return row(i === 0 ? "deliveries" : "", [`${queue.padEnd(6)} ${formatDue(due, "due")}`, ...lag])
    }),
    row("", [`${formatCount(deliveries.inFlight)} in flight`]),
    row("dead", [
      DEAD_LETTER_REASONS.map((reason) => `${formatCount(deliveries.deadLetters[reason])} ${reason}`).join(", "),
    ]),
    row("endpoints", [
      `${enabled} enabled`,
      `${endpoints.enabled.open + endpoints.enabled.probing} failing`,
      `${endpoints.enabled.recovering} recovering`,
      `${endpoints.disabled} disabled`,
    ]),
    ...endpoints.worst
      .slice(0, 3)
      .map(
        ({ id, breaker, lagSeconds, lagEvents, waiting }) =>
          `  ${id} ${breaker} · ${formatAge(lagSeconds)} behind · ${compact.format(Math.max(waiting, lagEvents))} waiting`,
      ),
    row("inbox", [formatDue(inbox, "waiting"), `${counted(inbox.setAside)} set aside`]),
    row("hits", [formatDue(hits, "waiting")]),
    row("opt-outs", [formatDue(unsubscriptions, "waiting")]),
    row("e-mails", [formatDue(messages, "due"), `${counted(messages.quarantined)} quarantined`]),
    row("campaigns", [`${campaigns.underWay} under way`]),
    ...campaigns.newest.map((campaign) => `  ${formatCampaign(campaign)}`),
  ]
}

const row = (title: string, cells: ReadonlyArray<string>): string => `${title.padEnd(11)}${cells.join(" · ")}`

const counted = (count: number): string => `${formatCount(count)}${count >= COUNT_CAP ? "+" : ""}`

const formatDue = ({ count, oldestSeconds }: Status["hits"], word: string): string =>
  `${counted(count)} ${word}${count > 0 ? ` for ${formatAge(oldestSeconds)}` : ""}`

const formatCampaign = ({ name, status, progress, pausedDomains }: CampaignUnderWay): string => {
  const notes = [
    `${compact.format(progress.answered)}/${compact.format(progress.recipients)}`,
    ...(progress.quarantined > 0 ? [`${compact.format(progress.quarantined)} unknown`] : []),
    ...(pausedDomains > 0 ? [`${compact.format(pausedDomains)} paused`] : []),
  ]
  return `${cut(formatCell(name), MAX_NAME).padEnd(MAX_NAME)} ${status.padEnd(STATUS_WIDTH)} ${drawBar(describeProgress(progress).share, BAR_WIDTH)} ${notes.join(", ")}`
}

const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length - 1)}…` : text)

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"]

const formatBytes = (bytes: number): string => {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(bytes) / 3)))
  const value = bytes / 1000 ** power
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[power]}`
}
