import { formatCommand } from "@outreach/backoffice/formatCommand"
import { Schema } from "effect"
import type { ComponentChildren, VNode } from "preact"
import { formatCapped } from "./format.ts"
import type { CommandWords } from "./ops.ts"
import { CopyButton, Id, isolated, useView } from "./values.tsx"

interface PageProps {
  /** Foreign text in it is isolated. */
  readonly title: ComponentChildren
  /** The state of what the page is about, and its id: they stand below the title. */
  readonly state?: ComponentChildren
  readonly id?: string
  readonly commands?: ReadonlyArray<CommandWords>
  readonly children: ComponentChildren
}

/** Leads from the page of a thing to what operators did with it: the thing whose id the page's address ends with. */
const AuditLink = () => {
  const { operator, page, section } = useView()
  const id = page
    .split("?")[0]!
    .match(/\b[a-z]{3}_[0-9a-f]+/g)
    ?.at(-1)
  // An error has no section.
  if (id === undefined || section === undefined || operator.role === "partner") return null
  return (
    <LinkLine to={withQuery("/audit", { [id.startsWith("org_") ? "organization" : "object"]: id })}>
      What operators did here
    </LinkLine>
  )
}

/** What a page shows of its own. Its title is also that of the document. Partners have no command line. */
export const Page = ({ title, state, id, commands = [], children }: PageProps) => {
  const isPartner = useView().operator.role === "partner"
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
      <AuditLink />
      {commands.length > 0 && !isPartner && (
        <aside class="commands" aria-label="The same on the command line">
          <h2 class="label">On the command line</h2>
          {commands.map((command) => (
            <Command key={command.join(" ")} words={command} />
          ))}
        </aside>
      )}
    </>
  )
}

export type PageElement = VNode<PageProps>

export const Command = (props: { readonly words: CommandWords }) => {
  const text = formatCommand(props.words)
  return (
    <pre class="command">
      <code>{isolated(text)}</code> <CopyButton>{text}</CopyButton>
    </pre>
  )
}

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

/** A table of rows, or a sentence in its place. A wide table scrolls in a box of its own; on a telephone, the rows of a list are cards. */
export const Table = <Row,>(props: {
  readonly title?: string
  readonly caption?: string
  /** The caption for screen readers alone, below a heading that says the same. Default the title. */
  readonly label?: string | undefined
  readonly rows: ReadonlyArray<Row>
  readonly columns: Columns<Row>
  /** For a list that is read whole: the page's input, and by what each of these columns sorts. */
  readonly sort?: Sort<Row>
  /** What stands in place of a table without rows. Default nothing. */
  readonly empty?: ComponentChildren
}) => {
  const { title, label = title, caption = label, sort, empty } = props
  const rows = sort === undefined ? props.rows : sorted(props.rows, sort)
  const columns = Object.entries(props.columns).flatMap(([header, column]) =>
    column === false
      ? []
      : [{ header, cell: cellOf(column), alignment: typeof column === "function" ? undefined : "number" }],
  )
  // A table of few columns fits, and one of numbers is read by its columns.
  const isCards = columns.length > 2 && columns.slice(1).some(({ alignment }) => alignment === undefined)
  const table = (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section class={isCards ? "scroll cards" : "scroll"} aria-label={caption} tabIndex={0}>
      <table>
        <caption class={label !== undefined ? "hidden" : undefined}>{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ header, alignment }) => (
              <th key={header} scope="col" class={alignment} aria-sort={directionOf(header, sort?.given)}>
                {sort?.by[header] === undefined ? (
                  header
                ) : (
                  <SortLink header={header} given={sort.given} at={sort.at} isNumber={alignment === "number"} />
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {columns.map(({ header, cell, alignment }) => (
                <td key={header} class={alignment} data-label={isCards ? header : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
  return (
    <>
      {title !== undefined && <h2>{title}</h2>}
      {rows.length > 0 ? table : empty !== undefined && <p class="empty">{empty}</p>}
    </>
  )
}

interface Sort<Row> {
  readonly given: string | undefined
  readonly by: Readonly<Record<string, (row: Row) => string | number>>
  /** The id of the part of the page that the table stands in; default its top. */
  readonly at?: string
}

/** The input of a page whose list can be sorted: the header of a column, with a minus before it for the largest first. */
export const SortOrder = Schema.String.check(Schema.isMaxLength(60)).annotate({ expected: "the header of a column" })

const sorted = <Row,>(rows: ReadonlyArray<Row>, { given, by }: Sort<Row>): ReadonlyArray<Row> => {
  const [, key] = Object.entries(by).find(([header]) => directionOf(header, given) !== undefined) ?? []
  if (key === undefined) return rows
  const direction = given?.startsWith("-") ? -1 : 1
  return rows.toSorted((a, b) => {
    const [x, y] = [key(a), key(b)]
    return direction * (typeof x === "string" ? x.localeCompare(String(y), "en") : x - Number(y))
  })
}

const directionOf = (header: string, given: string | undefined) =>
  given === header ? "ascending" : given === `-${header}` ? "descending" : undefined

/** Sorts by a column, or the other way if it is sorted by it already. Of numbers, the largest come first. */
const SortLink = (props: {
  readonly header: string
  readonly given: string | undefined
  readonly at?: string | undefined
  readonly isNumber: boolean
}) => {
  const { header, given, at, isNumber } = props
  const direction = directionOf(header, given)
  const isDown = direction === undefined ? isNumber : direction === "ascending"
  return (
    <a href={`${withQuery(useView().address, { sort: isDown ? `-${header}` : header })}${at ? `#${at}` : ""}`}>
      {header}
      {direction && (direction === "ascending" ? " ↑" : " ↓")}
    </a>
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

/** A part of a page that renews itself after so many seconds, for as long as they are given. */
export const Live = (props: {
  readonly id: string
  readonly seconds: number | undefined
  readonly children: ComponentChildren
}) => {
  const { fragment } = useView()
  const element = (
    <div id={props.id} data-refresh={props.seconds}>
      {props.children}
    </div>
  )
  if (fragment?.id === props.id) fragment.element = element
  return element
}

export const Section = (props: {
  readonly title: ComponentChildren
  readonly id?: string
  readonly class?: string
  readonly children: ComponentChildren
}) => (
  <section id={props.id} class={props.class}>
    <h2>{props.title}</h2>
    {props.children}
  </section>
)

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

export const Items = (props: { readonly of: ReadonlyArray<ComponentChildren> }) => (
  <ul>
    {props.of.map((item, i) => (
      <li key={i}>{item}</li>
    ))}
  </ul>
)

export const LinkLine = (props: { readonly to: string; readonly children: ComponentChildren }) => (
  <p>
    <a href={props.to}>{props.children}</a>
  </p>
)

interface Chip {
  readonly text: string
  /** Where it leads. By default, to the address of the chips with other values of its query. */
  readonly to?: string
  readonly query?: Readonly<Record<string, unknown>>
  readonly isChosen?: boolean
}

/** Links beside each other; one that is false is left out. */
export const Chips = (props: {
  readonly label: string
  readonly address?: string
  readonly chips: ReadonlyArray<Chip | false>
}) => (
  <nav aria-label={props.label}>
    <ul class="chips">
      {props.chips.map(
        (chip) =>
          chip && (
            <li key={chip.text}>
              <a
                href={chip.to ?? withQuery(props.address ?? "", chip.query ?? {})}
                aria-current={chip.isChosen ? "true" : undefined}
              >
                {isolated(chip.text)}
              </a>
            </li>
          ),
      )}
    </ul>
  </nav>
)

export const Pager = (props: {
  /** The values of the query that continue the list after its last row; undefined at its end. */
  readonly next: Readonly<Record<string, string>> | undefined
  /** The address of this page, if the list has another than what is shown. */
  readonly address?: string | undefined
}) => {
  const { address } = useView()
  if (props.next === undefined) return null
  return (
    <nav class="pager" aria-label="More rows">
      <a href={withQuery(props.address ?? address, props.next)} rel="next">
        Next page
      </a>
    </nav>
  )
}

/** Returns an address with values of its query replaced; undefined removes one. */
export const withQuery = (address: string, values: Readonly<Record<string, unknown>>): string => {
  const [path = "", search = ""] = address.split("?")
  const query = new URLSearchParams(search)
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) query.delete(name)
    else query.set(name, String(value))
  }
  return query.size === 0 ? path : `${path}?${query}`
}
