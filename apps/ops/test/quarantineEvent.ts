import type { EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { applyBatches, receiveEvent } from "@outreach/testing/receiveEvent"
import { npi } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"

/** Receives an event about an unknown program, which the service quarantines. */
export const quarantineEvent = Effect.fnUntraced(function* (organizationId: OrganizationId, endpointId: EndpointId) {
  yield* receiveEvent(
    { organization: { id: organizationId }, endpoint: { id: endpointId } },
    `evt_${"5e7a51de".repeat(4)}`,
    "clinician.learner_qualified",
    { npi: npi(0), consumer_program_slug: "nowhere" },
  )
  while (yield* applyBatches) {}
})
