import { EventReader } from "@outreach/backoffice/events/EventReader"
import { deliveryColumns } from "@outreach/backoffice/operations/deliveries"
import { events, showEvent } from "@outreach/backoffice/operations/events"
import { ObjectFinder } from "@outreach/backoffice/operators/ObjectFinder"
import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import type { EventId, OrganizationId } from "@outreach/domain/Identifier"
import { fromUnixMillis, toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect, Struct } from "effect"
import { ActionForm, MaskedContent } from "../../components/forms.tsx"
import { Facts, Items, LinkLine, Page, Section, withQuery } from "../../components/layout.tsx"
import { Addressed, ClinicianOf, foreign, inboxPageOf } from "../../components/values.tsx"
import { readObjects } from "../../http/listObjects.ts"
import { ListTable, listPage } from "../../http/listPage.tsx"
import { PageError } from "../../http/PageError.ts"
import { defineMaskedPage } from "../../http/Route.ts"
import { replayAction } from "../deliveries/deliveryPage.tsx"

const eventsPages = listPage("/events", events, {
  around: () => Effect.succeed({ cells: { recipientId: (event) => <ClinicianOf {...event} /> } }),
})

const eventPages = defineMaskedPage("/events/:event", showEvent, {
  forPartners: true,
  run: Effect.fnUntraced(function* ({ event }, { operator, ...masking }) {
    const reader = yield* EventReader
    // A partner's event can have the id of another organization's event, so the id doesn't determine the organization.
    const found = yield* reader.find(event as EventId, operator.organizationId)
    if (found === undefined) return yield* inboundPage(event, operator.organizationId)
    const { id, organizationId, type, emittedAt, campaignId } = found
    const deliveries = yield* reader.deliveries(organizationId, [id])
    const { nameOf } = yield* readObjects({ endpointId: true }, { organizationId })
    const moment = { from: emittedAt, to: fromUnixMillis(Math.floor(toUnixMillis(emittedAt)) + 1), types: type }
    return (
      <Page title={`Event ${type}`} commands={[["events show", id, { reveal: masking.isShown }]]}>
        <Facts
          facts={{
            Id: <code>{id}</code>,
            Occurred: { at: found.occurredAt },
            Emitted: { at: emittedAt },
            Clinician: found.recipientId !== null && <ClinicianOf {...found} />,
            Campaign: { id: campaignId, name: found.campaignName },
            Organization: { id: organizationId },
          }}
        />
        <ListTable
          title="Deliveries"
          list={{ columns: Struct.pick(deliveryColumns, ["id", "state", "endpointId"]) }}
          rows={deliveries}
          nameOf={nameOf}
          empty="Its deliveries are deleted, or no endpoint receives this event type."
          actions={{
            "Send again": ({ id, endpointId, state, replayedAs }) => {
              if (replayedAs !== null) return { id: replayedAs, name: "Replay" }
              return DEAD_LETTER_REASONS.some((reason) => reason === state) ? (
                <ActionForm action={replayAction} label="Replay" hidden={{ delivery: id }} />
              ) : (
                <a href={withQuery(`/endpoints/${endpointId}/replay`, moment)}>Replay this moment</a>
              )
            },
          }}
        />
        <Section title="Content">
          <MaskedContent {...masking}>{found.body}</MaskedContent>
        </Section>
        <LinkLine to={`/events?campaign=${campaignId}&type=${type}`}>Events of this type and campaign</LinkLine>
      </Page>
    )
  }),
})

/** The audit log and searches use the same ids for partners' events. */
const inboundPage = Effect.fnUntraced(function* (id: string, organizationId: OrganizationId | null) {
  const named = yield* (yield* ObjectFinder).find([id], organizationId)
  const found = named.filter(({ shownOn }) => shownOn === "inbox")
  if (found.length === 0) return yield* PageError.notFound()
  return (
    <Page title={foreign`Event ${id}`}>
      <p>
        <Addressed you="You" partner="A partner" /> sent this event:
      </p>
      <Items
        of={found.map(({ organizationId: owner }) => (
          <a key={owner} href={inboxPageOf(id, owner)}>
            Event in the inbox of {owner}
          </a>
        ))}
      />
    </Page>
  )
})

export const eventRoutes = [...eventsPages, ...eventPages] as const
