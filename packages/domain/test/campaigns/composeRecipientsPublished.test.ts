import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { PublicationChunk } from "../../src/campaigns/CampaignRepository.ts"
import { composeRecipientsPublished } from "../../src/campaigns/publishRecipients.ts"
import { MAX_EVENT_BYTES, serialise } from "../../src/events/Event.ts"
import { CampaignId, EventId, OrganizationId, ProgramId } from "../../src/Identifier.ts"
import type { Recipient } from "../../src/recipients/Recipient.ts"
import { Timestamp } from "../../src/Timestamp.ts"

const hex = "0".repeat(32)
const organizationId = OrganizationId.make(`org_${hex}`)
const programId = ProgramId.make(`pgm_${hex}`)
const now = Timestamp.make("2026-11-21T02:45:29.123456Z")
const chunkOf = (
  emails: ReadonlyArray<string>,
  campaignName = "Spring",
  programName = "Heart failure",
): PublicationChunk => ({
  campaign: {
    organizationId,
    id: CampaignId.make(`cmp_${hex}`),
    programId,
    name: campaignName,
    kind: "traffic",
    status: "publishing",
    windowStart: now,
    windowEnd: now,
    createdAt: now,
    updatedAt: now,
  },
  program: {
    organizationId,
    id: programId,
    slug: "heart-failure",
    name: programName,
    senderName: null,
    postalAddress: null,
    status: "active",
    learnerTarget: null,
    completerTarget: null,
    createdAt: now,
    updatedAt: now,
  },
  recipients: emails.map(
    (email, i) =>
      ({ id: `rcp_${i.toString(16).padStart(32, "0")}`, token: "aB3dE9", npi: "1234567893", email }) as Recipient,
  ),
})
const publish = (chunk: PublicationChunk) => composeRecipientsPublished(EventId.make(`evt_${hex}`), chunk)
const bytes = (chunk: PublicationChunk, livemode: boolean) =>
  new TextEncoder().encode(serialise(publish(chunk).event, livemode, now)).length

describe("composeRecipientsPublished", () => {
  it("includes as many recipients as fit in 64 KiB, for any addresses and names", () => {
    // Quotes and control characters take two to six bytes, other scripts up to four.
    const name = fc.string({ unit: "binary", minLength: 1, maxLength: 200 })
    const email = fc.oneof(
      fc.string({ unit: "binary", maxLength: 254 }),
      fc.integer({ min: 6, max: 254 }).map((length) => `${"a".repeat(length - 5)}@x.io`),
    )
    // A few repeated addresses create many recipients at little cost.
    const emails = fc
      .tuple(fc.array(email, { minLength: 1, maxLength: 5 }), fc.integer({ min: 1, max: 300 }))
      .map(([some, count]) => Array.from({ length: count }, (_, i) => some[i % some.length]!))
    fc.assert(
      fc.property(emails, name, name, fc.boolean(), (emails, campaignName, programName, livemode) => {
        const chunk = chunkOf(emails, campaignName, programName)
        const { event, recipients } = publish(chunk)
        expect(recipients.every((each, i) => each === chunk.recipients[i])).toBe(true)
        expect((event.data as { recipients: unknown[] }).recipients.length).toBe(recipients.length)
        expect(recipients.length).toBeGreaterThan(0)
        const size = new TextEncoder().encode(serialise(event, livemode, now)).length
        expect(size).toBeLessThanOrEqual(MAX_EVENT_BYTES)
        const next = chunk.recipients[recipients.length]
        if (next === undefined) return
        const { token, npi, email, id } = next
        const more = new TextEncoder().encode(
          `,${JSON.stringify({ token, npi, email, service_recipient_id: id })}`,
        ).length
        // Without livemode, the event is one byte longer.
        expect(size + more + (livemode ? 1 : 0)).toBeGreaterThan(MAX_EVENT_BYTES)
      }),
    )
  })

  it("takes 500 short addresses at once", () => {
    expect(publish(chunkOf(Array(500).fill("a@x.io"))).recipients.length).toBe(500)
    expect(bytes(chunkOf(Array(500).fill("a@x.io")), false)).toBeLessThan(MAX_EVENT_BYTES)
  })
})
