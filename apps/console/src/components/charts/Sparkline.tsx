import * as Plot from "@observablehq/plot"
import { renderPlot } from "./renderPlot.ts"

/** A value over time, as small as a word. */
export const Sparkline = (props: {
  readonly label: string
  readonly points: ReadonlyArray<{ readonly at: Date; readonly value: number }>
}) => {
  if (props.points.length < 2) return null
  const markup = renderPlot(props.label, {
    width: 160,
    height: 36,
    margin: 2,
    axis: null,
    y: { domain: [0, Math.max(1, ...props.points.map(({ value }) => value))] },
    marks: [
      Plot.areaY(props.points, { x: "at", y: "value", fill: "var(--accent)", fillOpacity: 0.15 }),
      Plot.lineY(props.points, { x: "at", y: "value", stroke: "var(--accent)", strokeWidth: 1.5 }),
    ],
  })
  return <span class="sparkline" dangerouslySetInnerHTML={{ __html: markup }} />
}
