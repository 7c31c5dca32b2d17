import { formatCount } from "@outreach/backoffice/format"
import { Array as Arr } from "effect"
import { Table } from "../../components/layout.tsx"

const MAX_REASONS = 50
const MAX_LINES = 10

interface Reject {
  readonly line: number
  readonly reason: string
}

/** The reasons for rejected lines, the most frequent first, each with its first lines. */
export const RejectedLines = ({ rejects }: { readonly rejects: ReadonlyArray<Reject> }) => {
  // Reasons that only differ in the named lines are one.
  const groups = Arr.groupBy(rejects, ({ reason }) => reason.replace(/\bline \d+/, "line …"))
  const rows = Object.entries(groups).sort(([, one], [, other]) => other.length - one.length)
  return (
    <Table
      title="Rejected lines"
      rows={rows.slice(0, MAX_REASONS)}
      columns={{
        Reason: ([reason]) => reason,
        Count: { count: ([, lines]) => lines.length },
        Lines: ([, lines]) => {
          const numbers = lines.slice(0, MAX_LINES).map(({ line }) => formatCount(line))
          return `${numbers.join("; ")}${lines.length > MAX_LINES ? " …" : ""}`
        },
      }}
    />
  )
}
