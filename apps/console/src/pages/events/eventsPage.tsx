import type { LoggedEvent } from "@outreach/backoffice/events/EventReader"
import { events } from "@outreach/backoffice/lists/events"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import { IdLink } from "../../components/values.tsx"
import { listPage } from "../../http/listPage.tsx"

/** The published events, newest first. */
export const eventsRoutes = listPage("/events", events, {
  cells: { recipientId: (event) => <ClinicianOf {...event} /> },
})

/** The clinician of an event about exactly one. */
export const ClinicianOf = ({ recipientId, npi }: Pick<LoggedEvent, "recipientId" | "npi">) => {
  if (recipientId === null) return <>–</>
  // An erased clinician has no page.
  return npi === null ? <>Erased clinician</> : <IdLink id={recipientId}>{`NPI ${maskNpi(npi)}`}</IdLink>
}
