import { digests as digestList } from "@outreach/backoffice/lists/digests"
import { showDigest } from "@outreach/backoffice/operations/digests"
import type { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import type { DigestRecord, FunnelStage } from "@outreach/domain/digest/Digest"
import { WHEN_REACHED } from "@outreach/domain/programs/Program"
import { command } from "../command.ts"
import { group } from "../group.ts"
import { formatCell, formatTable } from "../output/Output.ts"

export const digests = group("digests", "The partners' daily digests", [
  digestList,
  command(showDigest, { format: ({ date, data }) => formatDigest(date, data) }),
])

const STAGES: ReadonlyArray<FunnelStage> = ["account_created", "learner_qualified", "completer_qualified"]
const TOTALS = ["recipients_published", "sent", "bounced"] as const
const HITS = ["opened", "clicked"] as const

/** Formats the digest of a date: for each program a table of the funnel with bars, and a table of the outreach counts. */
const formatDigest = (date: CalendarDate, records: ReadonlyArray<DigestRecord>): string =>
  records.length === 0
    ? "None."
    : records.map((record) => [headOf(date, record), funnelOf(record), outreachOf(record)].join("\n\n")).join("\n\n\n")

const headOf = (date: CalendarDate, { program: { id, name, slug, status } }: DigestRecord): string =>
  `${formatCell(name)} (${slug}, ${status})\n${id} on ${date} UTC`

const funnelOf = ({ funnel, quota }: DigestRecord): string => {
  const longest = Math.max(...STAGES.map((stage) => funnel.cumulative[stage]))
  return formatTable(
    ["funnel", "date", "cumulative", "target", "when_reached", "reached_at", ""],
    STAGES.map((stage) => {
      const { target, reached_at } = stage === "account_created" ? { target: null, reached_at: null } : quota[stage]
      const whenReached = stage === "account_created" || target === null ? null : WHEN_REACHED[stage]
      const cumulative = funnel.cumulative[stage]
      return [stage, funnel.date[stage], cumulative, target, whenReached, reached_at, formatBar(cumulative, longest)]
    }),
  )
}

const outreachOf = ({ outreach }: DigestRecord): string =>
  formatTable(
    ["outreach", "all", "unique", "without_bots", "unique"],
    [
      ...TOTALS.map((count) => [count, outreach[count], null, null, null]),
      ...HITS.map((hit) => {
        const { without_suspected_bots: unsuspected } = outreach
        return [hit, outreach[hit], outreach[`unique_${hit}`], unsuspected[hit], unsuspected[`unique_${hit}`]]
      }),
    ],
  )

/** The width of the longest bar in terminal cells. */
const WIDTH = 30

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"] as const

/** Draws a count as a bar, relative to the longest bar of its chart. Rounds to an eighth of a cell; any count above 0 is visible. */
export const formatBar = (count: number, longest: number): string => {
  if (count === 0) return ""
  const eighths = Math.max(1, Math.round((8 * WIDTH * count) / longest))
  return "█".repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]
}
