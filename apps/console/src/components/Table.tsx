import type { ComponentChildren } from "preact"
import { formatCapped } from "./format.ts"
import { isolated } from "./values.tsx"

type Cell<Row> = (row: Row) => ComponentChildren

/** A column of a table. Numbers stand at the right. */
export type Column<Row> =
  /** A cell of nothing but text may be foreign, and is isolated. */
  | Cell<Row>
  | { readonly number: Cell<Row> }
  /** A dash stands in place of no count. From the cap on, a count stands for as many or more. */
  | { readonly count: (row: Row) => number | null | undefined; readonly cap?: number }

/** The columns of a table by their headers; one that is false is left out. */
export type Columns<Row> = Readonly<Record<string, Column<Row> | false>>

/** A table of rows, or a sentence in its place. A wide table scrolls in a box of its own. */
export const Table = <Row,>(props: {
  readonly caption: string
  readonly rows: ReadonlyArray<Row>
  readonly columns: Columns<Row>
  /** What stands in place of a table without rows. */
  readonly empty: ComponentChildren
  /** Whether the caption is for screen readers alone, below a heading that says the same. */
  readonly hideCaption?: boolean
}) => {
  if (props.rows.length === 0) return <Empty>{props.empty}</Empty>
  const columns = Object.entries(props.columns).flatMap(([header, column]) =>
    column === false
      ? []
      : [{ header, cell: cellOf(column), alignment: typeof column === "function" ? undefined : "number" }],
  )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section class="scroll" aria-label={props.caption} tabIndex={0}>
      <table>
        <caption class={props.hideCaption ? "hidden" : undefined}>{props.caption}</caption>
        <thead>
          <tr>
            {columns.map(({ header, alignment }) => (
              <th key={header} scope="col" class={alignment}>
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row, i) => (
            <tr key={i}>
              {columns.map(({ header, cell, alignment }) => (
                <td key={header} class={alignment}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const cellOf = <Row,>(column: Column<Row>): Cell<Row> => {
  if (typeof column === "function") return (row) => isolated(column(row))
  if ("number" in column) return column.number
  return (row) => {
    const count = column.count(row)
    return typeof count === "number" ? formatCapped(count, column.cap ?? Number.POSITIVE_INFINITY) : "–"
  }
}

/** Says what would stand here. */
export const Empty = (props: { readonly children: ComponentChildren }) => <p class="empty">{props.children}</p>

/** The facts about one thing, as a list of names and values. A value of none is left out; one of nothing but text may be foreign, and is isolated. */
export const Facts = (props: { readonly facts: Readonly<Record<string, ComponentChildren>> }) => (
  <dl class="facts">
    {Object.entries(props.facts).map(
      ([name, value]) =>
        value !== undefined &&
        value !== null &&
        value !== false && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{isolated(value)}</dd>
          </div>
        ),
    )}
  </dl>
)
