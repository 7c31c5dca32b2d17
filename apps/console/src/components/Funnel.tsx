import { formatShare } from "@outreach/backoffice/format"
import type { ComponentChildren } from "preact"
import { Table } from "./layout.tsx"

/** The count of each step as a bar and a number, with its shares of the first and of the previous step. */
export const Funnel = (props: {
  readonly title: string
  readonly steps: ReadonlyArray<{
    readonly label: string
    readonly count: number
    readonly note?: string
    readonly to?: string
  }>
  readonly empty: ComponentChildren
}) => {
  const { title, steps, empty } = props
  const longest = Math.max(1, ...steps.map(({ count }) => count))
  const shareOf = (count: number, whole = 0) => formatShare(whole === 0 ? null : count / whole)
  return (
    <Table
      caption={title}
      rows={steps.map((step, i) => ({ ...step, previous: steps[i - 1]?.count }))}
      empty={empty}
      columns={{
        Step: ({ label, count }) => (
          <>
            {label}
            <progress max={longest} value={count} aria-hidden="true" />
          </>
        ),
        Count: { number: ({ count, to }) => (to === undefined ? count : { to, name: count }) },
        "Of first step": { number: ({ count }) => shareOf(count, steps[0]?.count) },
        "Of previous step": { number: ({ count, previous }) => shareOf(count, previous) },
        Note: steps.some(({ note }) => note !== undefined) && (({ note }) => note),
      }}
    />
  )
}
