import { audit } from "@outreach/backoffice/lists/audit"
import type { AuditEntry } from "@outreach/backoffice/operators/AuditLog"
import { ObjectFinder } from "@outreach/backoffice/operators/ObjectFinder"
import { Effect } from "effect"
import { Items } from "../../components/layout.tsx"
import { IdLink, isolated, pageOf, pageShowing, ShortId } from "../../components/values.tsx"
import { listPage } from "../../http/listPage.tsx"

export const auditRoutes = listPage("/audit", audit, {
  read: ({ rows }) => placesOf(rows),
  cells: {
    arguments: (entry, { places }) => <Items of={Object.entries(entry.arguments).map(argumentWith(places))} />,
  },
})

/** Finds the page of objects without an own page. */
const placesOf = Effect.fnUntraced(function* (entries: ReadonlyArray<AuditEntry>) {
  const values = entries.flatMap((entry) => Object.values(entry.arguments).flat()).map(String)
  const ids = values.filter((value) => ID.test(value) && pageOf(value) === undefined)
  const found = yield* (yield* ObjectFinder).find(ids, null)
  return { places: new Map(found.map((object) => [object.id, pageShowing(object)])) }
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
