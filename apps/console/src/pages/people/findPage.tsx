import { formatCounted } from "@outreach/backoffice/format"
import { required, searchTerm } from "@outreach/backoffice/operations/Field"
import { findClinician } from "@outreach/backoffice/operations/recipients"
import { type FoundObject, MAX_NAMED, NAMED_KINDS, ObjectFinder } from "@outreach/backoffice/operators/ObjectFinder"
import { isAddressPart, type SearchTerm } from "@outreach/backoffice/operators/SearchTerm"
import { TimelineReader } from "@outreach/backoffice/recipients/TimelineReader"
import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecrets"
import { type Kind, type OrganizationId, PREFIXES } from "@outreach/domain/Identifier"
import { isPartner, mayActAs, mayUse, type Operator } from "@outreach/domain/operators/Operator"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeys"
import { maskEmail, maskNpi } from "@outreach/domain/recipients/Clinician"
import type { Recipient } from "@outreach/domain/recipients/Recipient"
import { Array as Arr, Effect, Redacted, String as Str, Struct } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ComponentChildren, VNode } from "preact"
import { ActionForm } from "../../components/forms.tsx"
import { Page, type PageElement, Table } from "../../components/layout.tsx"
import { ForeignText, IdLink, Masked, pageFor, pageShowing, ShortId } from "../../components/values.tsx"
import { defineAction, definePage } from "../../http/Route.ts"
import { pathTo } from "../../view/paths.ts"
import { revokeKeyRoutes } from "../partners/partnerPages.tsx"
import { TimelineTable } from "./personPage.tsx"

const MAX_ENTRIES = 20

interface Hit {
  readonly what: string
  readonly to: string
  readonly name: ComponentChildren
  readonly note?: string | VNode | null
  readonly organizationId: OrganizationId | null
}

const findPage = definePage("/find", {
  forPartners: true,
  run: (_, { operator }) => Effect.succeed(searchPage({ title: "Find", operator })),
})

/** Redirects to the object of a search term. It is a POST, because the term can be personal or secret and must not be in a URL, log or history. */
const search = defineAction("/find", findClinician, {
  forPartners: true,
  isRepeatable: true,
  inputs: { search: required(searchTerm) },
  run: Effect.fnUntraced(function* ({ search: term }, { operator }) {
    const { hits, isWhole = true } = yield* findHits(term, operator)
    const [only] = hits
    if (only !== undefined && hits.length === 1 && isWhole) {
      return HttpServerResponse.empty({ status: 303, headers: { location: only.to } })
    }
    const {
      entries: known,
      deliveries,
      erasedIn,
    } = hits.length === 0 && !isHidden(term, operator) && (term.by === "npi" || term.by === "email")
      ? yield* (yield* TimelineReader).find(keyOf(term.by, term.value, operator), MAX_ENTRIES)
      : { entries: [], deliveries: [], erasedIn: [] }
    return searchPage({
      operator,
      title: hits.length === 0 ? "No results" : formatCounted(hits.length, "result"),
      // A secret can't be shown again.
      typed: term.by === "key" || term.by === "secret" ? undefined : term.value,
      found: (
        <>
          <Table
            caption="Results"
            rows={hits}
            empty={isHidden(term, operator) ? PARTNER_HINT : nothingBy(term, known.length > 0, erasedIn.length > 0)}
            columns={{
              Kind: ({ what }) => what,
              Name: ({ to, name }) => <a href={to}>{name}</a>,
              Detail: ({ note }) => note,
              Organization:
                operator.organizationId === null && (({ organizationId: id }) => (id === null ? "–" : { id })),
            }}
          />
          {hits.length >= MAX_NAMED && (
            <p>At most {MAX_NAMED} of each kind are shown. Type more of the name to narrow the search.</p>
          )}
          {!isWhole && (
            <p class="problem">
              The search inside of e-mail addresses took too long and was stopped. Type the start of the address, or all
              of it.
            </p>
          )}
          {erasedIn.map((id) => (
            <p key={id}>
              The clinician was erased and is still suppressed in all programs of <IdLink id={id} />.
            </p>
          ))}
          {known.length > 0 && (
            <>
              <h2>Timeline</h2>
              <TimelineTable entries={known.toReversed()} deliveries={deliveries} />
            </>
          )}
        </>
      ),
    })
  }),
})

const PARTNER_HINT =
  "Search by the id of an event or a delivery, by a token, or by the text of a key or signing secret."

/** Partners don't search for clinicians and names. */
const isHidden = ({ by }: SearchTerm, operator: Operator) =>
  isPartner(operator) && (by === "npi" || by === "email" || by === "name")

const findHits = Effect.fnUntraced(function* (term: SearchTerm, operator: Operator) {
  const { by, value } = term
  if (isHidden(term, operator)) return { hits: [] }
  if (by === "id") return { hits: yield* findObjects(value, operator) }
  if (by === "key" || by === "secret") return { hits: yield* findCredential(by, Redacted.make(value), operator) }
  const { findPeople, findByPart } = yield* TimelineReader
  const found = by === "name" ? [] : yield* findPeople(keyOf(by, value, operator))
  if (isPartner(operator)) {
    // Partners have no pages of clinicians, so that they see the events of the token's recipient.
    const recipients = found.filter(({ token }) => token === value)
    return { hits: toHits(recipients, ({ id }) => `/events?recipient=${id}`) }
  }
  const people = toHits(found)
  if (by === "npi") return { hits: people }
  const named = yield* findNamed(value, operator)
  if (people.length > 0 || !isAddressPart(value)) return { hits: [...people, ...named] }
  const { records, isWhole } = yield* findByPart(value, operator.organizationId ?? undefined)
  return { hits: [...toHits(records).slice(0, MAX_NAMED), ...named], isWhole }
})

/** Only admins have pages of operators and their sessions. */
const isAdmin = ({ role }: Operator) => mayActAs(role, "admin")

const findNamed = Effect.fnUntraced(function* (part: string, operator: Operator) {
  const kinds = NAMED_KINDS.filter((kind) => kind !== "operator" || isAdmin(operator))
  const found = yield* (yield* ObjectFinder).findNamed(part, operator.organizationId, kinds)
  return found.map((object) => hitOf({ ...object, shownOn: object.id }))
})

const findObjects = Effect.fnUntraced(function* (id: string, operator: Operator) {
  const found = yield* (yield* ObjectFinder).find([id], operator.organizationId)
  const hasPage = ({ shownOn }: FoundObject) =>
    isPartner(operator)
      ? shownOn === "inbox" || pageFor(shownOn, operator) !== undefined
      : isAdmin(operator) || !shownOn.startsWith("opr_")
  return found.filter(hasPage).map(hitOf)
})

const hitOf = (object: FoundObject & { readonly name?: string; readonly note?: string }): Hit => ({
  ...object,
  what: object.shownOn === "inbox" ? "Event of a partner" : labelOf(object.id),
  to: pageShowing(object),
  name: object.name === undefined ? <ShortId>{object.id}</ShortId> : <ForeignText>{object.name}</ForeignText>,
})

/** Finds a key or signing secret by the hash of its text, including ended ones. */
const findCredential = Effect.fnUntraced(function* (by: "key" | "secret", text: Redacted.Redacted, operator: Operator) {
  const key = by === "key" ? yield* (yield* ApiKeyRepository).findByText(text) : undefined
  const secret = by === "secret" ? yield* (yield* SigningSecretRepository).findByText(text) : undefined
  // A leaked key must be revoked first, and its page shows its use.
  const isOwn = [null, key?.organizationId].includes(operator.organizationId)
  if (key !== undefined && key.revokedAt === null && isOwn && mayUse(operator, revokeKeyRoutes[0])) {
    const { id, name, organizationId } = key
    return [{ what: labelOf(id), to: pathTo(revokeKeyRoutes[0], { key: id }), name, organizationId } satisfies Hit]
  }
  const id = key?.id ?? secret?.id
  return id === undefined ? [] : yield* findObjects(id, operator)
})

const keyOf = (by: "npi" | "email" | "token", value: string, { organizationId }: Operator) => ({
  by,
  value,
  ...(organizationId !== null && { organizationId }),
})

type Person = Pick<Recipient, "organizationId" | "id" | "npi" | "email">

/** Returns each clinician once. */
const toHits = <P extends Person>(
  records: ReadonlyArray<P>,
  to = ({ id }: P) => `/people/${id}`,
): ReadonlyArray<Hit> => {
  const isSame = (one: Person, other: Person) => one.organizationId === other.organizationId && one.npi === other.npi
  return Arr.dedupeWith(records, isSame).map((record) => ({
    what: "Clinician",
    to: to(record),
    name: `NPI ${maskNpi(record.npi)}`,
    note: <Masked>{maskEmail(record.email)}</Masked>,
    organizationId: record.organizationId,
  }))
}

/** Labels of objects by the kind of id. Default: the kind. */
const LABELS: Readonly<Partial<Record<Kind, string>>> = {
  recipient: "Clinician",
  key: "API key",
  secret: "Signing secret",
  replay: "Replay job",
  import: "Import of a list",
  hit: "Open or click",
  dkimKey: "DKIM key",
  session: "Session of an operator",
  failureGroup: "Issue",
}

const labelOf = (id: string): string => {
  const kind = Struct.keys(PREFIXES).find((kind) => id.startsWith(PREFIXES[kind])) ?? "event"
  return LABELS[kind] ?? Str.capitalize(kind)
}

const nothingBy = ({ by, value }: SearchTerm, isKnown: boolean, isErased: boolean): string => {
  if (by === "id") {
    return value.startsWith("req_")
      ? "Requests aren't stored. Search the API's log for this id."
      : "No record has this id. It may be erased, expired, or in a different deployment."
  }
  if (by === "key" || by === "secret") return "No organization of this deployment has or had it."
  if (by === "name")
    return "No organization, program, campaign or sender has a matching name, and no clinician a matching address."
  if (isKnown) return "No campaign has a matching recipient. The timeline below shows all entries."
  // Only recipients have tokens.
  if (isErased || by === "token") return "No campaign has a matching recipient."
  return "No matching recipient, suppression or partner event."
}

const searchPage = (page: {
  readonly operator: Operator
  readonly title: string
  readonly found?: ComponentChildren
  readonly typed?: string | undefined
}): PageElement => (
  <Page title={page.title} commands={["email", "npi", "token"].map((by) => ["recipients find", { [by]: "…" }])}>
    {page.found}
    <section>
      <ActionForm
        action={search}
        isPrimary
        hidden={{ page: "/find" }}
        controls={{ search: { value: page.typed, ...(isPartner(page.operator) && { hint: PARTNER_HINT }) } }}
      />
    </section>
  </Page>
)

export const findRoutes = [findPage, search] as const
