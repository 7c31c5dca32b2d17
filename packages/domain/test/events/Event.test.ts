import { EVENTS } from "@outreach/contract"
import { describe, expect, it } from "vitest"
import { composeEvent, serialise } from "../../src/events/Event.ts"
import { CampaignId, EventId, OrganizationId, ProgramId, RecipientId } from "../../src/Identifier.ts"
import { Timestamp } from "../../src/Timestamp.ts"

const hex = "0".repeat(32)
const stamp = Timestamp.make("2026-11-21T02:45:29.123456Z")
const sent = composeEvent(
  "outreach.email_sent",
  {
    id: EventId.make(`evt_${hex}`),
    organizationId: OrganizationId.make(`org_${hex}`),
    campaignId: CampaignId.make(`cmp_${hex}`),
    programId: ProgramId.make(`pgm_${hex}`),
    recipientId: RecipientId.make(`rcp_${hex}`),
  },
  { service_recipient_id: `rcp_${hex}`, service_campaign_id: `cmp_${hex}`, token: "aB3dE9" },
)

describe("serialise", () => {
  it("writes an envelope that the contract accepts", () => {
    const envelope = EVENTS["outreach.email_sent"].envelope.parse(JSON.parse(serialise(sent, true, stamp)))
    expect(envelope).toMatchObject({
      livemode: true,
      event_id: sent.id,
      source: "service",
      occurred_at: stamp,
      emitted_at: stamp,
      data: sent.data,
    })
  })

  it("writes the time of occurrence separately from the time of emission", () => {
    const occurredAt = Timestamp.make("2026-11-20T00:00:00.000001Z")
    expect(JSON.parse(serialise({ ...sent, occurredAt }, false, stamp))).toMatchObject({
      livemode: false,
      occurred_at: occurredAt,
      emitted_at: stamp,
    })
  })

  it("doesn't show a partner the organization's id", () => {
    expect(serialise(sent, true, stamp)).not.toContain(sent.organizationId)
  })
})
