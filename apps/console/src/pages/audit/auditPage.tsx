import { audit } from "@outreach/backoffice/operations/audit"
import type { AuditEntry } from "@outreach/backoffice/operators/AuditLog"
import { ObjectFinder } from "@outreach/backoffice/operators/ObjectFinder"
import { isIdentifier } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { Commas, Items } from "../../components/layout.tsx"
import { IdLink, Noted, pageOf, pageShowing, ShortId, type Value } from "../../components/values.tsx"
import { listPage } from "../../http/listPage.tsx"

export const auditRoutes = listPage("/audit", audit, {
  *around({ rows }) {
    const places = yield* placesOf(rows)
    return {
      cells: {
        arguments: (entry) => <Items of={Object.entries(entry.arguments).map(argumentWith(places))} />,
        command: ({ command, erasureId }) => (
          <Noted note={erasureId && <IdLink id={erasureId}>Certificate</IdLink>}>{command}</Noted>
        ),
      },
    }
  },
})

/** Finds the page of objects without an own page. */
const placesOf = Effect.fnUntraced(function* (entries: ReadonlyArray<AuditEntry>) {
  const values = entries.flatMap((entry) => Object.values(entry.arguments).flat()).map(String)
  const ids = values.filter((value) => isIdentifier(value) && pageOf(value) === undefined)
  const found = yield* (yield* ObjectFinder).find(ids, null)
  return new Map(found.map((object) => [object.id, pageShowing(object)]))
})

const linkTo = (value: string, place: string | undefined): Value => {
  if (place === undefined) return isIdentifier(value) ? { id: value } : value
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
    const values = [value].flat().map(String)
    return (
      <>
        {name}: <Commas of={values.map((each) => linkTo(each, places.get(each)))} />
      </>
    )
  }
