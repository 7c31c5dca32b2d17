import { formatCommand } from "@outreach/backoffice/formatCommand"
import type { Heading } from "@outreach/backoffice/operations/List"
import { isPartner } from "@outreach/domain/operators/Operator"
import type { ComponentChildren, VNode } from "preact"
import { useView } from "../view/View.ts"
import { type Command, ops } from "./ops.ts"
import { CopyLine, Id, isolated, renderValue, type Value } from "./values.tsx"

interface PageProps {
  /** Foreign text is isolated. */
  readonly title: ComponentChildren
  /** Status and id of the page's object, below the title. */
  readonly state?: ComponentChildren
  readonly id?: string
  /** The equivalent commands; false omits one. */
  readonly commands?: ReadonlyArray<Command | false>
  readonly children: ComponentChildren
}

/** The content of a page. Its title is also the document's. Partners have no audit log and no command line. */
export const Page = ({ title, state, id, commands = [], children }: PageProps) => {
  const { operator, page, section } = useView()
  const isOfPartner = isPartner(operator)
  // The object of a page has the last id in its path.
  const [, object] = /.*\b([a-z]{3}_[0-9a-f]+)/.exec(page.split("?")[0]!) ?? []
  const shown = commands.filter((command) => command !== false)
  return (
    <>
      <h1>{title}</h1>
      {(state !== undefined || id !== undefined) && (
        <p class="subtitle">
          {state}
          {id !== undefined && <Id>{id}</Id>}
        </p>
      )}
      {children}
      {/* An error belongs to no section. */}
      {object !== undefined && section !== undefined && !isOfPartner && (
        <LinkLine to={withQuery("/audit", { [object.startsWith("org_") ? "organization" : "object"]: object })}>
          Audit log of this page
        </LinkLine>
      )}
      {shown.length > 0 && !isOfPartner && (
        <aside aria-label="Equivalent commands">
          <h2>On the command line</h2>
          {shown.map((command, i) => (
            <CommandLine key={i} command={command} />
          ))}
        </aside>
      )}
    </>
  )
}

export type PageElement = VNode<PageProps>

export const CommandLine = (props: { readonly command: Command }) => (
  <div>
    <CopyLine>{formatCommand(ops(...props.command))}</CopyLine>
  </div>
)

/** The columns of a table by header; false omits one. Numbers are aligned right; a missing number is a dash. */
export type Columns<Row> = Readonly<
  Record<string, ((row: Row) => Value) | { readonly number: (row: Row) => Value } | false>
>

/** A table of rows, or a sentence instead. A wide table scrolls in its box; on a phone the rows of a list are cards that open. */
export const Table = <Row,>(props: {
  readonly title?: string
  readonly caption?: string
  /** The caption, visible only to screen readers because a heading has the same text. Default: the title. */
  readonly label?: string | undefined
  readonly rows: ReadonlyArray<Row>
  readonly columns: Columns<Row>
  /** The text instead of an empty table. Default: an empty table has no title, too. */
  readonly empty?: ComponentChildren
  /** The columns by which the table can be sorted, by header: the current order, and the link to another one. */
  readonly sorts?: Readonly<Record<string, Pick<Heading, "order"> & { readonly to: string }>> | undefined
}) => {
  const { title, label = title, caption = label, rows, empty, sorts = {} } = props
  if (rows.length === 0 && empty === undefined) return null
  const columns = Object.entries(props.columns).flatMap(([header, column]) => {
    if (column === false) return []
    const isNumber = typeof column !== "function"
    const show = isNumber ? (row: Row) => column.number(row) ?? "–" : column
    return [{ header, show, alignment: isNumber ? "number" : undefined }]
  })
  // A table with few columns fits, and a table of numbers is compared by column.
  const isCards = columns.length > 2 && columns.slice(1).some(({ alignment }) => alignment === undefined)
  const table = (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section class={isCards ? "scroll cards" : "scroll"} aria-label={caption} tabIndex={0}>
      <table>
        <caption class={label !== undefined ? "hidden" : undefined}>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ header, alignment }) => (
              <th key={header} scope="col" class={alignment} aria-sort={sorts[header]?.order}>
                {sorts[header] === undefined ? header : <a href={sorts[header].to}>{header}</a>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => {
            const values = columns.map(({ show }) => show(row))
            const parts = isCards ? partsOf(values.map((value, j) => (columns[j]!.alignment ? 0 : value))) : []
            return (
              <tr key={i}>
                {columns.map(({ header, alignment }, j) => (
                  <td key={header} class={alignment} data-label={isCards ? header : undefined} data-part={parts[j]}>
                    {renderValue(values[j])}
                    {isCards && j === 0 && (
                      <details class="more">
                        <summary aria-label="All values" />
                      </details>
                    )}
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </section>
  )
  return (
    <>
      {title !== undefined && <h2>{title}</h2>}
      {rows.length > 0 ? table : <p class="empty">{empty}</p>}
    </>
  )
}

/** Returns what a closed card shows of a row: the first count, state, text and time after its title. */
const partsOf = ([, ...values]: ReadonlyArray<Value>): ReadonlyArray<string | undefined> => {
  const parts = values.map((value) => {
    if (typeof value === "number") return "count"
    if (typeof value !== "object" || value === null) return undefined
    return "tone" in value ? "state" : "at" in value ? (value.at ? "time" : undefined) : "text"
  })
  return [undefined, ...parts.map((part, i) => (parts.indexOf(part) === i ? part : undefined))]
}

/** A part of a page that reloads itself every so many seconds, while set. */
export const Live = (props: {
  readonly id: string
  readonly seconds: number | undefined
  readonly children: ComponentChildren
}) => (
  <div id={props.id} data-refresh={props.seconds}>
    {props.children}
  </div>
)

export const Section = (props: {
  readonly title: ComponentChildren
  readonly id?: string
  readonly children: ComponentChildren
}) => (
  <section id={props.id}>
    <h2>{props.title}</h2>
    {props.children}
  </section>
)

/** An object's facts as names and values. Undefined values, null and false are omitted. */
export const Facts = (props: { readonly facts: Readonly<Record<string, Value>> }) => (
  <dl class="facts">
    {Object.entries(props.facts).map(
      ([name, value]) =>
        value != null &&
        value !== false && (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{renderValue(value)}</dd>
          </div>
        ),
    )}
  </dl>
)

export const Items = (props: { readonly of: ReadonlyArray<Value> }) => (
  <ul>
    {props.of.map((item, i) => (
      <li key={i}>{renderValue(item)}</li>
    ))}
  </ul>
)

export const Commas = (props: { readonly of: ReadonlyArray<Value> }) =>
  props.of.map((value, i) => (
    <span key={i}>
      {i > 0 && ", "}
      {renderValue(value)}
    </span>
  ))

/** Links with their labels; false omits one. */
type Links = ReadonlyArray<readonly [href: string, text: string] | false>

const LinkList = (props: { readonly class: string; readonly of: Links; readonly chosen?: string | undefined }) => (
  <ul class={props.class}>
    {props.of.map(
      (link) =>
        link && (
          <li key={link[1]}>
            <a href={link[0]} aria-current={link[0] === props.chosen ? "true" : undefined}>
              {isolated(link[1])}
            </a>
          </li>
        ),
    )}
  </ul>
)

/** Problems with links to their places. */
export const ProblemLinks = (props: {
  readonly of: Links
  /** The content without problems. Default: none. */
  readonly none?: ComponentChildren
}) => (props.of.some(Boolean) ? <LinkList class="problem" of={props.of} /> : props.none)

/** A row of links, such as those to the variants of a page. */
export const Chips = (props: {
  readonly label: string
  readonly of: Links
  /** The address of the current variant. */
  readonly chosen?: string
}) => (
  <nav aria-label={props.label}>
    <LinkList class="chips" of={props.of} chosen={props.chosen} />
  </nav>
)

export const LinkLine = (props: { readonly to: string; readonly children: ComponentChildren }) => (
  <p>
    <a href={props.to}>{props.children}</a>
  </p>
)

export const NextPage = (props: { readonly to: string }) => (
  <nav class="pager" aria-label="More rows">
    <a href={props.to} rel="next">
      Next page
    </a>
  </nav>
)

/** Returns a URL with replaced values of its query; undefined removes a value. */
export const withQuery = (address: string, values: Readonly<Record<string, unknown>>): string => {
  const [path = "", search = ""] = address.split("?")
  const query = new URLSearchParams(search)
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) query.delete(name)
    else query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}
