import { CalendarDate, type DigestRecord, DigestRepository, type FunnelStage } from "@outreach/domain/digest/Digest"
import { WHEN_REACHED } from "@outreach/domain/programs/Program"
import { drawBar } from "@outreach/process/progress"
import { field, organizationId, required } from "./Field.ts"
import { operation } from "./Operation.ts"
import type { Part } from "./Part.ts"

const STAGES: ReadonlyArray<FunnelStage> = ["account_created", "learner_qualified", "completer_qualified"]
const TOTALS = ["recipients_published", "sent", "bounced"] as const
const HITS = ["opened", "clicked"] as const
const BAR_WIDTH = 30

const funnelOf = ({ funnel, quota }: DigestRecord): Part => {
  const longest = Math.max(1, ...STAGES.map((stage) => funnel.cumulative[stage]))
  return {
    table: {
      head: ["funnel", "date", "cumulative", "target", "when_reached", "reached_at", ""],
      rows: STAGES.map((stage) => {
        const { target, reached_at } = stage === "account_created" ? { target: null, reached_at: null } : quota[stage]
        const whenReached = stage === "account_created" || target === null ? null : WHEN_REACHED[stage]
        const cumulative = funnel.cumulative[stage]
        return [
          stage,
          funnel.date[stage],
          cumulative,
          target,
          whenReached,
          reached_at,
          drawBar(cumulative / longest, BAR_WIDTH),
        ]
      }),
    },
  }
}

const outreachOf = ({ outreach }: DigestRecord): Part => ({
  table: {
    head: ["outreach", "all", "unique", "without_bots", "unique"],
    rows: [
      ...TOTALS.map((count) => [count, outreach[count], null, null, null]),
      ...HITS.map((hit) => {
        const { without_suspected_bots: unsuspected } = outreach
        return [hit, outreach[hit], outreach[`unique_${hit}`], unsuspected[hit], unsuspected[`unique_${hit}`]]
      }),
    ],
  },
})

export const showDigest = operation("digests show", {
  access: "reads",
  about: "Show each program's funnel, outreach counts and quotas of a date",
  input: { date: required(field(CalendarDate, "The date in UTC", { isArgument: true })), organizationId },
  *run({ organizationId, date }) {
    return { date, data: yield* (yield* DigestRepository).read(organizationId, date) }
  },
  show: ({ date, data }) =>
    data.length === 0
      ? ["None."]
      : data.flatMap((record, i) => {
          const { id, name, slug, status } = record.program
          const head = `${name} (${slug}, ${status})\n${id} on ${date} UTC`
          return [i === 0 ? head : `\n${head}`, funnelOf(record), outreachOf(record)]
        }),
  examples: ["ops digests show 2026-11-20 --organization org_…"],
})
