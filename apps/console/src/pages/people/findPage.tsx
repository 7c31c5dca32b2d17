import { EventDeliveries } from "@outreach/backoffice/deliveries/EventDeliveries"
import { type FoundObject, ObjectFinder } from "@outreach/backoffice/operators/ObjectFinder"
import { TimelineReader } from "@outreach/backoffice/recipients/TimelineReader"
import type { EventId, OrganizationId } from "@outreach/domain/Identifier"
import { SearchTerm } from "@outreach/domain/operators/SearchTerm"
import { maskEmail } from "@outreach/domain/recipients/maskEmail"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import type { Recipient } from "@outreach/domain/recipients/Recipient"
import { Array as Arr, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ComponentChildren } from "preact"
import { formatCount } from "../../components/format.ts"
import { ActionForm } from "../../components/forms.tsx"
import { Page, type PageElement, Table } from "../../components/layout.tsx"
import { IdLink, Masked, OBJECT_PAGES, Time } from "../../components/values.tsx"
import { field, required } from "../../http/inputs.ts"
import { defineAction, definePage } from "../../http/Route.ts"
import { TimelineTable } from "./TimelineTable.tsx"

const COMMANDS = ["ops recipients find --email …", "ops recipients find --npi …", "ops recipients find --token …"]
const MAX_ENTRIES = 20

const findPage = definePage("/find", {
  run: () => Effect.succeed(searchPage("Find")),
})

/** Leads to what a term means. It is a POST, so that no address, log or history holds the term, which may be personal. */
const search = defineAction("/find", "recipients find", {
  role: "viewer",
  inputs: {
    search: required(
      field(SearchTerm, "Clinician or id", {
        size: 42,
        maxLength: 320,
        hint: "An e-mail address, an NPI, a token, or the id of anything. The audit log records that you searched, and not for what.",
      }),
    ),
  },
  run: Effect.fnUntraced(function* ({ search: { by, value } }, { operator: { organizationId } }) {
    const found = yield* by === "id" ? findObjects(value, organizationId) : findPeople({ by, value }, organizationId)
    return typeof found === "string" ? HttpServerResponse.empty({ status: 303, headers: { location: found } }) : found
  }),
})

const findObjects = Effect.fnUntraced(function* (id: string, organizationId: OrganizationId | null) {
  const pageOf = OBJECT_PAGES[id.slice(0, 3)]
  if (pageOf !== undefined) return pageOf(id)
  const found = yield* (yield* ObjectFinder).find(id, organizationId)
  const [only] = found
  if (only !== undefined && found.length === 1)
    return only.kind === "event" ? yield* findEvent(only) : pageShowing(only)
  return searchPage(
    found.length === 0 ? "Nothing has this id" : "Several things have this id",
    <Table
      caption="Found"
      rows={found}
      empty="It may be of another deployment, past its retention, or erased."
      columns={{
        What: (object) => <a href={pageShowing(object)}>{KINDS[object.kind]}</a>,
        Organization: ({ organizationId }) => <IdLink id={organizationId} />,
      }}
    />,
  )
})

/** An event of ours stands on the pages of its deliveries. */
const findEvent = Effect.fnUntraced(function* ({ id, organizationId }: FoundObject) {
  const deliveries = yield* (yield* EventDeliveries).read(organizationId, [id as EventId])
  const [only] = deliveries
  if (only !== undefined && deliveries.length === 1) return `/deliveries/${only.id}`
  return searchPage(
    `Event ${id}`,
    <Table
      caption="Deliveries of the event"
      rows={deliveries}
      empty="It was delivered longer ago than deliveries are kept, or no endpoint takes events of its type."
      columns={{
        Delivery: ({ id }) => <IdLink id={id} />,
        State: ({ state }) => state,
        Endpoint: ({ endpointId }) => <IdLink id={endpointId} />,
      }}
    />,
  )
})

const KINDS: Readonly<Record<FoundObject["kind"], string>> = {
  key: "An API key",
  secret: "A signing secret",
  sender: "A sender",
  dkimKey: "A DKIM key",
  erasure: "An erasure",
  event: "An event of ours",
  inboxEvent: "An event that the partner sent",
}

/** Returns the page that shows a thing which has none of its own. */
const pageShowing = ({ kind, id, organizationId }: FoundObject): string => {
  if (kind === "inboxEvent") return `/inbox/${id}?organization=${organizationId}`
  if (kind === "erasure") return `/audit?organization=${organizationId}&command=clinicians+erase`
  return `/partners/${organizationId}`
}

const findPeople = Effect.fnUntraced(function* (
  { by, value }: { readonly by: "npi" | "email" | "token"; readonly value: string },
  organizationId: OrganizationId | null,
) {
  const reader = yield* TimelineReader
  const key = { by, value, ...(organizationId !== null && { organizationId }) }
  const recipients = yield* reader.findPeople(key)
  const people: ReadonlyArray<Arr.NonEmptyReadonlyArray<Recipient>> = Object.values(
    Arr.groupBy(recipients, ({ organizationId, npi }): string => `${organizationId} ${npi}`),
  )
  if (people.length === 1) return `/people/${recipients[0]!.id}`
  const { entries } = people.length > 0 ? { entries: [] } : yield* reader.find(key, MAX_ENTRIES)
  return searchPage(
    people.length === 0 ? "Nobody was found" : `${formatCount(people.length)} clinicians were found`,
    <>
      <Table
        caption="Clinicians"
        rows={people}
        empty={
          entries.length === 0
            ? "No campaign has a recipient like this, nothing suppresses one, and no partner sent an event of one."
            : "No campaign has a recipient like this. What is known beside campaigns stands below."
        }
        columns={{
          Clinician: ([newest]) => <IdLink id={newest.id}>{`NPI ${maskNpi(newest.npi)}`}</IdLink>,
          Address: ([newest]) => <Masked>{maskEmail(newest.email)}</Masked>,
          Organization: ([newest]) => <IdLink id={newest.organizationId} />,
          Campaigns: { count: (records) => records.length },
          "Last event": ([newest]) => <Time at={newest.lastEventAt} />,
        }}
      />
      {entries.length > 0 && (
        <>
          <h2>What is known</h2>
          <TimelineTable entries={entries.toReversed()} deliveries={[]} />
        </>
      )}
    </>,
  )
})

const searchPage = (title: string, found?: ComponentChildren): PageElement => (
  <Page title={title} commands={COMMANDS}>
    {found}
    <section>
      <ActionForm action={search} label="Find" isPrimary />
    </section>
  </Page>
)

export const findRoutes = [findPage, search] as const
