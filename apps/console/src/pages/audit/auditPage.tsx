import { nameIn } from "@outreach/backoffice/format"
import { auditFilters } from "@outreach/backoffice/lists/audit"
import { type AuditEntry, AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { ObjectFinder } from "@outreach/backoffice/operators/ObjectFinder"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { textSchema } from "@outreach/domain/textSchema"
import { Effect } from "effect"
import { FilterBar } from "../../components/forms.tsx"
import { Items, Page, Pager, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import {
  Code,
  ForeignText,
  IdLink,
  isolated,
  OBJECT_PAGES,
  ShortId,
  StatusBadge,
  Time,
  type Tone,
} from "../../components/values.tsx"
import { definePage } from "../../http/Route.ts"
import { inputsOfFilters, valuesOf } from "../../view/inputs.ts"
import { pageShowing } from "../people/pageShowing.ts"

const PAGE_SIZE = 50

const TONES: Readonly<Record<AuditEntry["result"], Tone>> = {
  succeeded: "good",
  failed: "bad",
  interrupted: "warning",
  unfinished: "warning",
}

/** The start of the next page: an entry's id without its prefix, because entries belong to no organization. */
const Before = textSchema("a cursor from a link to the next page", (text) =>
  /^[0-9a-f]{32}$/.test(text) ? `aud_${text}` : undefined,
)

const filters = inputsOfFilters(auditFilters)

export const auditPage = definePage("/audit", {
  inputs: { ...filters, before: Before },
  run: Effect.fnUntraced(function* ({ before, ...given }, { operator }) {
    const { page } = yield* AuditLog
    const { entries, next } = yield* page({ ...valuesOf(auditFilters, given), before }, PAGE_SIZE)
    const places = yield* placesOf(entries)
    const organizations = yield* (yield* OrganizationReader).list
    return (
      <Page title="Audit" commands={[ops("audit list", given)]}>
        <FilterBar inputs={filters} values={given} controls={{ organization: { options: organizations } }} />
        <Table
          caption="Commands and actions, newest first"
          rows={entries}
          empty={
            next === null
              ? "No entry matches. The audit log contains changes and views of personal data."
              : "None of the newest entries matches. Older entries are on the next page."
          }
          columns={{
            Time: ({ begunAt }) => <Time at={begunAt} />,
            Operator: ({ operator, osUser, host, role }) => (
              <span title={`System user ${osUser} on ${host}, database role ${role}`}>
                <ForeignText>{operator ?? `${osUser} (${host})`}</ForeignText>
              </span>
            ),
            Command: ({ command }) => <Code>{command}</Code>,
            Arguments: (entry) => <Items of={Object.entries(entry.arguments).map(argumentWith(places))} />,
            Result: ({ result, code, endedAt }) => (
              <>
                <StatusBadge tone={TONES[result]}>{result}</StatusBadge> {code !== null && <Code>{code}</Code>}
                {endedAt === null && <small>running or killed</small>}
              </>
            ),
            Organizations:
              operator.organizationId === null &&
              (({ organizations: ids }) =>
                ids.length === 0 ? (
                  "–"
                ) : (
                  <Items of={ids.map((id) => <IdLink id={id}>{nameIn(organizations, id)}</IdLink>)} />
                )),
          }}
        />
        <Pager next={next === null ? undefined : { before: next.slice("aud_".length) }} />
      </Page>
    )
  }),
})

/** Finds the page of objects without an own page. */
const placesOf = Effect.fnUntraced(function* (entries: ReadonlyArray<AuditEntry>) {
  const values = entries.flatMap((entry) => Object.values(entry.arguments).flat()).map(String)
  const ids = values.filter((value) => ID.test(value) && OBJECT_PAGES[value.slice(0, 3)] === undefined)
  const found = yield* (yield* ObjectFinder).find(ids, null)
  return new Map(found.map((object) => [object.id, pageShowing(object)]))
})

const ID = /^[a-z]{3}_[0-9a-f]{32}$/

const ArgumentValue = (props: { readonly value: string; readonly place: string | undefined }) => {
  const { value, place } = props
  if (!ID.test(value)) return <>{isolated(value)}</>
  if (place === undefined) return <IdLink id={value} />
  return (
    <a href={place}>
      <ShortId>{value}</ShortId>
    </a>
  )
}

const argumentWith =
  (places: ReadonlyMap<string, string>) =>
  ([name, value]: [string, AuditEntry["arguments"][string]]) => {
    if (value === true) return name
    if (value === null)
      return (
        <>
          {name}: <small>withheld</small>
        </>
      )
    const values = (Array.isArray(value) ? value : [value]).map(String)
    return (
      <>
        {name}:{" "}
        {values.map((each, i) => (
          <span key={each}>
            {i > 0 && ", "}
            <ArgumentValue value={each} place={places.get(each)} />
          </span>
        ))}
      </>
    )
  }
