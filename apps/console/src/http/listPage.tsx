import { csvTable } from "@outreach/backoffice/csv/csvTable"
import { formatCapped, formatMillis, formatShare } from "@outreach/backoffice/format"
import { examplesOf, type Fields, fieldName, type ValuesOf } from "@outreach/backoffice/operations/Field"
import {
  type Column,
  headingsOf,
  type List,
  MAX_ROWS,
  readRows,
  tableOf,
  valueIn,
} from "@outreach/backoffice/operations/List"
import { type Step, type Steps, toEffect } from "@outreach/backoffice/operations/Operation"
import { checkIds } from "@outreach/backoffice/operators/ObjectFinder"
import { isPartner } from "@outreach/domain/operators/Operator"
import { isAgo } from "@outreach/domain/Timestamp"
import { Effect, Record, Schema, type Scope, Struct } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ComponentChildren } from "preact"
import { Missing } from "../components/FormLink.tsx"
import { ActionForm, type Controls, FilterBar, RevealForm } from "../components/forms.tsx"
import { Chips, type Columns, Items, Live, NextPage, Page, Table, withQuery } from "../components/layout.tsx"
import { type Command, flagsOf } from "../components/ops.ts"
import { CopyButton, Masked, Noted, pageOf, renderValue, type Value } from "../components/values.tsx"
import { controlOf, type Inputs, pickDefined, type Values, valuesOf } from "../view/inputs.ts"
import { pathTo, sectionOf, titleOf } from "../view/paths.ts"
import { type Masking, useView } from "../view/View.ts"
import { type Objects, optionsOf, readObjects } from "./listObjects.ts"
import {
  defineMaskedPage,
  definePage,
  defineResource,
  type KnownPath,
  type RequestContext,
  type Revealing,
  type Route,
} from "./Route.ts"

const PAGE_SIZE = 50

/** Maximum number of pages for a download, because a page of a rare filter reads thousands of rows. */
const MAX_DOWNLOAD_PAGES = 20

/** A list as a page shows it. */
export interface ListView<F, Row> {
  readonly filter: ValuesOf<F>
  readonly rows: ReadonlyArray<Row>
  readonly objects: Objects
  readonly context: RequestContext
  /** Whether personal data is shown. */
  readonly isShown: boolean
  /** The values of the filters in the page's URL. */
  readonly given: Readonly<Record<string, string>>
}

/** The content of single cells, by the field of the row. */
type Cells<Row> = Readonly<Record<string, (row: Row) => Value>>

/** The content of a page around its list, and of single cells. */
interface Around<Row> {
  /** Default: the section's. */
  readonly title?: ComponentChildren
  readonly cells?: Cells<Row>
  readonly above?: ComponentChildren
  readonly below?: ComponentChildren
  /** Default: that of the list. */
  readonly command?: Command
  /** Further commands. */
  readonly commands?: ReadonlyArray<Command | false>
  readonly controls?: Controls
  /** Columns with actions, by heading. */
  readonly actions?: Columns<Row>
  /** The interval in which the list reloads itself. */
  readonly refreshSeconds?: number | undefined
}

/** The form of an operation that creates an object. */
interface Creation {
  readonly title: string
  readonly action: Route<unknown, string> & { readonly form: { readonly label: string } }
  readonly controls?: Controls
}

interface Options<F, Row, R, Y extends Step> {
  /** The form above the list that creates a row. */
  readonly create?: Creation
  readonly around?: Steps<[view: ListView<F, Row>], Around<Row>, R, Y>
  /** The label of the button that shows personal data. */
  readonly showLabel?: string
  /** The command that shows personal data. Default: that of the list. */
  readonly reveals?: Revealing
}

/** Declares the page of a list, and the download of its rows. Ids in the path are filters of the list. */
export const listPage = <
  const P extends `/${string}`,
  F extends Fields,
  Row extends object,
  R,
  R2 = never,
  Y extends Step = never,
>(
  path: KnownPath<P>,
  list: List<F, Row, R>,
  options: Options<F, Row, R2, Y> = {},
) => {
  const { create, showLabel = "Show personal data" } = options
  const readAround = toEffect(options.around ?? (() => Effect.succeed({})))
  const { command, isPersonal = false, isWhole, empty } = list
  const fields = Record.filter(list.filters as Fields, (_, key) => !path.includes(`:${fieldName(key)}`))
  const filters: Inputs = Record.mapKeys(fields, fieldName)
  const access = Struct.pick(list, ["role", "forPartners"])
  const inputs = { ...filters, after: Schema.String }
  const read = (input: Values, limit: number, maxPages?: number) => {
    const filter = valuesOf(list.filters, input)
    const part = { limit, after: (input["after"] as string | undefined) ?? null, ...(maxPages && { maxPages }) }
    return Effect.map(readRows(list, filter, part), (page) => ({ ...page, filter }))
  }
  const run = Effect.fnUntraced(function* (
    input: Values,
    { isShown = true, show, ...context }: RequestContext & Partial<Masking>,
  ) {
    const { rows, next, filter } = yield* read(input, isWhole ? Number.MAX_SAFE_INTEGER : PAGE_SIZE, 1)
    if (rows.length === 0) yield* checkIds(filter)
    const objects = yield* readObjects({ ...Struct.omit(list.columns, ["campaignId"]), ...fields }, filter)
    const shown = { ...input, ...relativeTimes(filters, context.texts) }
    const given = textsOf(list.filters, shown)
    const query = Record.filter(given, (_, name) => name in filters)
    const address = pathTo<string>({ path }, given)
    const none = Object.keys(query).length > 0 ? "Nothing matches the filters." : empty
    const around: Around<Row> = yield* readAround({ filter, rows, objects, context, isShown, given })
    const { title = titleOf(sectionOf(path), context.operator), commands = [] } = around
    const { command: equivalent = [command, flagsOf(list.filters, shown)] } = around
    const controls = { ...optionsOf(objects, filter), ...around.controls }
    const link = withQuery(address, query)
    const headings = headingsOf(list, query["sort"])
    const creation: Command | false = !!create && [create.action.command!, examplesOf(create.action.inputs as Fields)]
    return (
      <Page title={title} commands={[equivalent, creation, ...commands]}>
        {create && (
          <div id="new">
            <ActionForm
              {...create}
              controls={{ ...optionsOf(objects, filter, true), ...create.controls }}
              isPrimary
              isOpen={rows.length === 0}
            />
          </div>
        )}
        {around.above}
        {controlOf(filters["from"])?.kind === "instant" && (
          <Chips
            label="Period"
            of={Object.entries(PERIODS).map(([from, label]) => [
              withQuery(address, { ...query, from, to: undefined }),
              label,
            ])}
            chosen={link}
          />
        )}
        <FilterBar action={address} inputs={filters} values={query} controls={controls} />
        {show !== undefined && rows.length > 0 && (
          <RevealForm {...{ isShown, show }} hidden={{ ...query, after: input["after"] }} label={showLabel} />
        )}
        <Live id="list" seconds={around.refreshSeconds}>
          <ListTable
            {...Struct.pick(around, ["cells", "actions"])}
            list={list}
            caption={list.about
              .replace(query["sort"] === undefined ? "" : /,[^,.]* first/, "")
              .replace(/^List (?:the )?(.)/, (_, first: string) => first.toUpperCase())}
            rows={rows}
            empty={next === null ? none : "None of the first rows matches. More are on the next page."}
            nameOf={objects.nameOf}
            isOfOne={"organizationId" in filter}
            isShown={isShown}
            sorts={Record.map(headings, ({ order, next }) => ({ order, to: withQuery(link, { sort: next }) }))}
          />
        </Live>
        {next !== null && <NextPage to={withQuery(address, { ...query, after: next })} />}
        <p class="actions">
          {rows.length > 0 && <a href={withQuery(`${address}/csv`, query)}>Download as CSV</a>}
          <a href={link}>Link to this list</a>
          <CopyButton>{link}</CopyButton>
        </p>
        {around.below}
      </Page>
    )
  })
  const download = defineResource(`${path as string as "/"}/csv`, {
    ...access,
    inputs,
    run: Effect.fnUntraced(function* (input: Values, context: RequestContext) {
      const { rows, next } = yield* read(input, MAX_ROWS, MAX_DOWNLOAD_PAGES)
      const isLabelled = isPartner(context.operator)
      const name = `${command.replaceAll(" list", "").replaceAll(" ", "-")}${next === null ? "" : "-part"}.csv`
      return csvFile(name, tableOf(list, rows, { isMasked: isPersonal, isLabelled }))
    }) as never,
  })
  const page = { ...access, inputs, run: run as never }
  return [
    ...(isPersonal
      ? defineMaskedPage(path, options.reveals ?? { command, input: {} }, page)
      : [definePage(path, page)]),
    download,
  ] as unknown as ReadonlyArray<Route<R | R2 | Exclude<Effect.Services<Y>, Scope.Scope> | ReadObjects, P>>
}

/** Common periods until now: the link to such a list moves with the time. */
const PERIODS = { "-1h": "Last hour", "-24h": "Last 24 hours", "-7d": "Last 7 days" }

/** Returns the given times that are relative to now. */
const relativeTimes = (filters: Inputs, texts: URLSearchParams) =>
  Object.fromEntries(
    [...texts].filter(([name, text]) => controlOf(filters[name])?.kind === "instant" && isAgo(text.trim())),
  )

type ReadObjects = Effect.Services<ReturnType<typeof readObjects | typeof checkIds>>

/** Creates the response with a table as a file. */
export const csvFile = (name: string, { columns, rows }: ReturnType<typeof tableOf>) =>
  textFile(name, csvTable(columns, rows))

export const textFile = (name: string, text: string, contentType = "text/csv; charset=utf-8") =>
  HttpServerResponse.text(text, {
    contentType,
    headers: { "content-disposition": `attachment; filename="${name}"` },
  })

/** Returns the given values as the texts of a form. */
const textsOf = (filters: Fields, input: Values): Readonly<Record<string, string>> =>
  Record.map(pickDefined(flagsOf(filters, input)), (value) =>
    value === true ? "yes" : value === false ? "no" : String(value),
  )

/** A table of a list's rows. */
export const ListTable = <Row extends object>(
  props: Omit<Parameters<typeof Table<Row>>[0], "columns"> &
    Pick<Around<Row>, "cells" | "actions"> & {
      readonly list: Pick<List<never, Row, never>, "columns"> &
        Partial<Pick<List<never, Row, never>, "empty" | "filledBy">>
      readonly nameOf?: Objects["nameOf"]
      /** Whether all rows are of one organization, which the table then doesn't show. */
      readonly isOfOne?: boolean
      /** Whether personal data is shown. Default true. */
      readonly isShown?: boolean
    },
) => {
  const { list, cells = {}, actions, nameOf = () => undefined, isShown = true, empty = list.empty, ...table } = props
  const { operator } = useView()
  const isOfOne = props.isOfOne || operator.organizationId !== null
  const columns = Object.entries(list.columns).flatMap(([key, column]) => {
    if (column.label === undefined || (isOfOne && /^organization(Id|s)$/.test(key))) return []
    const show = cells[key] ?? ((row: Row) => valueFor(column, row, key, nameOf, isShown))
    return [[column.label, ["count", "share", "millis"].includes(column.kind) ? { number: show } : show] as const]
  })
  return (
    <Table
      {...table}
      empty={empty && <Missing command={list.filledBy}>{empty}</Missing>}
      columns={{ ...Object.fromEntries(columns), ...actions }}
    />
  )
}

const valueFor = <Row extends object>(
  column: Column<Row>,
  row: Row,
  key: string,
  nameOf: Objects["nameOf"],
  isShown: boolean,
): Value => {
  const { kind, cap = Number.POSITIVE_INFINITY, none = "–", of, note, mask, shown, tone, tones } = column
  const value = shown === undefined ? valueIn(row, key, column) : shown(row)
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return none
  const linked = (content: Value) =>
    of === undefined ? content : <a href={pageOf(of(row))!}>{renderValue(content)}</a>
  switch (kind) {
    case "id": {
      const names = row as Readonly<Record<string, unknown>>
      const object = (id: string) => ({ id, name: nameOf(id) ?? (names[`${key.replace(/Id$/, "")}Name`] as string) })
      return Array.isArray(value) ? <Items of={value.map(object)} /> : object(String(value))
    }
    case "time":
      return linked({ at: value as string })
    case "badge": {
      const own = tones?.[String(row[key as keyof Row])] ?? "neutral"
      return { tone: tone?.(row) ?? own, word: String(value).replaceAll("_", " "), note: note?.(row) }
    }
    case "share":
      return formatShare(value as number)
    case "millis":
      return formatMillis(value as number)
    case "masked": {
      const text = isShown ? String(value) : mask!(row)
      return of === undefined && !isShown ? <Masked>{text}</Masked> : linked(text)
    }
    default:
      return (
        <Noted note={note?.(row) ?? ""}>
          {typeof value === "number" ? formatCapped(value, cap) : renderValue(linked([value].flat().join(", ")))}
        </Noted>
      )
  }
}
