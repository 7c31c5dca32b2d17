import type { PlotOptions } from "@observablehq/plot"
import { type Columns, Table } from "../lists.tsx"
import { renderPlot } from "./renderPlot.ts"

/** A chart with a table of the same numbers. */
export const Chart = <Row,>(props: {
  readonly title: string
  readonly label: string
  readonly plot: PlotOptions
  readonly rows: ReadonlyArray<Row>
  readonly columns: Columns<Row>
  readonly empty: string
  /** The attributes that a script of the browser reads, such as `data-brush`. */
  readonly data?: Readonly<Record<`data-${string}`, string>>
  readonly legend?: ReadonlyArray<{ readonly name: string; readonly color: string }>
  /** Whether the chart is drawn for half of a wide page. */
  readonly isNarrow?: boolean
}) => (
  <figure class={props.isNarrow ? "chart narrow" : "chart"} {...props.data}>
    <figcaption>{props.title}</figcaption>
    {props.rows.length === 0 ? (
      <p class="empty">{props.empty}</p>
    ) : (
      <>
        {props.legend !== undefined && (
          <ul class="legend">
            {props.legend.map(({ name, color }) => (
              <li key={name}>
                <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
                  <rect width="12" height="12" rx="2" fill={color} />
                </svg>{" "}
                {name}
              </li>
            ))}
          </ul>
        )}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
        <section class="drawing" aria-label={`${props.title}, drawn`} tabIndex={0}>
          <div class="canvas" dangerouslySetInnerHTML={{ __html: renderPlot(props.label, props.plot) }} />
        </section>
        <details>
          <summary>As a table</summary>
          <Table caption={props.title} hideCaption rows={props.rows} columns={props.columns} />
        </details>
      </>
    )}
  </figure>
)
