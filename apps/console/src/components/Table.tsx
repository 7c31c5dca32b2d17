import type { ComponentChildren } from "preact"
import { Empty } from "./Empty.tsx"
import { isolated } from "./ForeignText.tsx"

/** A column of a table. */
export interface Column<Row> {
  readonly header: string
  /** A cell of nothing but text may be foreign, and is isolated. */
  readonly cell: (row: Row) => ComponentChildren
  /** Whether the column holds numbers, which stand at the right. */
  readonly numeric?: boolean
}

/** A table of rows, or a sentence in its place. A wide table scrolls in a box of its own. */
export const Table = <Row,>(props: {
  readonly caption: string
  readonly rows: ReadonlyArray<Row>
  readonly columns: ReadonlyArray<Column<Row>>
  /** What stands in place of a table without rows. */
  readonly empty: ComponentChildren
  /** Whether the caption is for screen readers alone, below a heading that says the same. */
  readonly hideCaption?: boolean
}) =>
  props.rows.length === 0 ? (
    <Empty>{props.empty}</Empty>
  ) : (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section class="scroll" aria-label={props.caption} tabIndex={0}>
      <table>
        <caption class={props.hideCaption ? "hidden" : undefined}>{props.caption}</caption>
        <thead>
          <tr>
            {props.columns.map(({ header, numeric }) => (
              <th key={header} scope="col" class={numeric ? "number" : undefined}>
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row, i) => (
            <tr key={i}>
              {props.columns.map(({ header, cell, numeric }) => (
                <td key={header} class={numeric ? "number" : undefined}>
                  {numeric ? cell(row) : isolated(cell(row))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
