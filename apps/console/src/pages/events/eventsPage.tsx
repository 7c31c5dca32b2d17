import { EventReader, type LoggedEvent, MAX_EVENT_SCAN } from "@outreach/backoffice/events/EventReader"
import { formatCount, nameIn } from "@outreach/backoffice/format"
import { eventFilters } from "@outreach/backoffice/lists/events"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { EventId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import { Effect } from "effect"
import { FilterBar } from "../../components/forms.tsx"
import { Page, Pager, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { IdLink, Time } from "../../components/values.tsx"
import { definePage } from "../../http/Route.ts"
import { defineCursor, inputsOfFilters, pickDefined, valuesOf } from "../../view/inputs.ts"

const PAGE_SIZE = 50
/** Number of campaigns in the filter. */
const MAX_CAMPAIGNS = 200

const filters = inputsOfFilters(eventFilters)
const eventCursor = defineCursor({ emittedAt: Instant, id: EventId })

/** The published events, newest first. */
export const eventsPage = definePage("/events", {
  inputs: { ...filters, before: eventCursor.input },
  run: Effect.fnUntraced(function* ({ before = null, ...given }, { operator }) {
    const filter = valuesOf(eventFilters, given)
    const { organizationId, campaignId } = filter
    const { events, next } = yield* (yield* EventReader).page(filter, PAGE_SIZE, before)
    const organizations = yield* (yield* OrganizationReader).list
    const campaigns = yield* CampaignRepository
    const newest = yield* campaigns.list(pickDefined({ organizationId }), MAX_CAMPAIGNS)
    const isOffered = campaignId === undefined || newest.some(({ id }) => id === campaignId)
    const offered = isOffered ? newest : [yield* campaigns.find(campaignId), ...newest]
    const isOfOne = organizationId !== undefined || operator.organizationId !== null
    return (
      <Page title="Events" commands={[ops("events list", given)]}>
        <FilterBar
          inputs={filters}
          values={given}
          controls={{ organization: { options: organizations }, campaign: { options: offered } }}
        />
        <Table
          label="Published events, newest first"
          rows={events}
          empty={
            next === null
              ? "No event matches."
              : `None of ${formatCount(MAX_EVENT_SCAN)} events belongs to the campaign. Older ones are on the next page.`
          }
          columns={{
            Event: ({ id, type }) => <IdLink id={id}>{type}</IdLink>,
            Clinician: (event) => <ClinicianOf {...event} />,
            Campaign: ({ campaignId, campaignName }) => <IdLink id={campaignId}>{campaignName}</IdLink>,
            Organization:
              !isOfOne && (({ organizationId: id }) => <IdLink id={id}>{nameIn(organizations, id)}</IdLink>),
            Emitted: ({ emittedAt }) => <Time at={emittedAt} />,
          }}
        />
        <Pager next={next === null ? undefined : { before: eventCursor.of(next) }} />
      </Page>
    )
  }),
})

/** The clinician of an event about exactly one. */
export const ClinicianOf = ({ recipientId, npi }: Pick<LoggedEvent, "recipientId" | "npi">) => {
  if (recipientId === null) return <>–</>
  // An erased clinician has no page.
  return npi === null ? <>Erased clinician</> : <IdLink id={recipientId}>{`NPI ${maskNpi(npi)}`}</IdLink>
}
