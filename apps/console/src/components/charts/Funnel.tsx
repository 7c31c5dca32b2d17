import * as Plot from "@observablehq/plot"
import { formatCount, formatShare } from "@outreach/backoffice/format"
import type { ComponentChildren } from "preact"
import { Chart } from "./Chart.tsx"

const ROW_HEIGHT = 34
const LABEL_WIDTH = 130
const FONT_SIZE = 12

/** The count of each step, with its shares of the first and of the previous step. */
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
  const first = props.steps[0]?.count ?? 0
  const steps = props.steps.map((step, i) => ({
    ...step,
    ofFirst: shareOf(step.count, first),
    ofBefore: i === 0 ? null : shareOf(step.count, props.steps[i - 1]!.count),
  }))
  const longest = Math.max(1, ...steps.map(({ count }) => count))
  const hasNotes = steps.some(({ note }) => note !== undefined)
  return (
    <Chart
      isNarrow
      title={props.title}
      label={`${props.title}: ${steps.map(({ label, count }) => `${formatCount(count)} ${label}`).join(", ")}`}
      empty={props.empty}
      rows={steps}
      columns={{
        Step: ({ label }) => label,
        Count: {
          number: ({ count, to }) => (to === undefined ? formatCount(count) : <a href={to}>{formatCount(count)}</a>),
        },
        "Of first step": { number: ({ ofFirst }) => formatShare(ofFirst) },
        "Of previous step": { number: ({ ofBefore }) => formatShare(ofBefore) },
        Note: hasNotes && (({ note = "" }) => note),
      }}
      plot={{
        height: 16 + ROW_HEIGHT * steps.length,
        margin: 8,
        marginLeft: LABEL_WIDTH,
        // The text after the longest bar needs the rest.
        x: { domain: [0, longest * 1.5], axis: null },
        y: { domain: steps.map(({ label }) => label), padding: 0.25 },
        marks: [
          Plot.axisY({ label: null, tickSize: 0, fontSize: FONT_SIZE }),
          Plot.barX(steps, { x: "count", y: "label", href: "to", fill: "var(--accent)", rx: 2 }),
          Plot.text(steps, {
            x: "count",
            y: "label",
            href: "to",
            text: (step: (typeof steps)[number]) =>
              step.ofBefore === null
                ? formatCount(step.count)
                : `${formatCount(step.count)} · ${formatShare(step.ofFirst)}`,
            fontSize: FONT_SIZE,
            dx: 6,
            textAnchor: "start",
          }),
          Plot.ruleX([0], { stroke: "var(--edge)" }),
        ],
      }}
    />
  )
}

const shareOf = (count: number, whole: number): number | null => (whole === 0 ? null : count / whole)
