import type { RecipientRecord } from "@outreach/contract"
import type { CampaignWithProgram } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId } from "@outreach/domain/Identifier"
import type { Recipient } from "@outreach/domain/recipients/Recipient"
import fc from "fast-check"
import { expect, it } from "vitest"
import { type RecipientExpansion, recipientRecord } from "../../src/handlers/recipientRecord.ts"

/** Characters that JSON escapes, or that a careless encoder gets wrong. */
const ODD = [
  ...['"quoted"', "back\\slash", "\u0001\b\t\n\f\r\u001f", "\u007f\u0080\u00ad", "\u2028\u2029\ufeff", "é ß 漢"],
  ...["😀 𝒳", "</script>", "\\u0041", "'; --"],
]

const record = (recipient: Recipient, livemode: boolean): Omit<RecipientRecord, "campaign" | "program"> => ({
  object: "recipient_record",
  livemode,
  token: recipient.token,
  npi: recipient.npi,
  email: recipient.email,
  service_recipient_id: recipient.id,
  service_campaign_id: recipient.campaignId,
  service_program_id: recipient.programId,
  created_at: recipient.createdAt,
  updated_at: recipient.updatedAt,
  sent_at: recipient.sentAt,
  bounced_at: recipient.bouncedAt,
  last_event_at: recipient.lastEventAt,
})

it("recipientRecord renders exactly the output of JSON.stringify, for any addresses and names", () => {
  const text = fc.oneof(fc.constantFrom(...ODD), fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }))
  const time = fc.constantFrom("2026-11-21T02:45:29.123456Z", "1999-01-01T00:00:00.000000Z")
  const expansions: ReadonlyArray<RecipientExpansion> = [[], ["campaign"], ["program"], ["program", "campaign"]]
  const shown = fc.record({
    email: text,
    name: text,
    slug: text,
    times: fc.array(fc.option(time), { minLength: 3, maxLength: 3 }),
    livemode: fc.boolean(),
    expansion: fc.constantFrom(...expansions),
    known: fc.boolean(),
  })
  fc.assert(
    fc.property(shown, ({ email, name, slug, times, livemode, expansion, known }) => {
      const recipient = {
        organizationId: "org_1",
        id: "rcp_1",
        campaignId: "cmp_1",
        programId: "pgm_1",
        token: "aB3dE9",
        npi: "1234567893",
        email,
        createdAt: "2026-11-21T02:45:29.123456Z",
        updatedAt: "2026-11-21T02:45:29.000000Z",
        sentAt: times[0],
        bouncedAt: times[1],
        lastEventAt: times[2],
      } as unknown as Recipient
      const summary = {
        campaign: { id: "cmp_1", name, programId: "pgm_1", status: "draft" },
        program: { id: "pgm_1", slug, name, status: "active" },
      } as unknown as CampaignWithProgram
      const summaries = new Map(known ? [["cmp_1" as CampaignId, summary]] : [])
      const campaign = { object: "campaign", livemode, id: "cmp_1", name, program_id: "pgm_1", status: "draft" }
      const program = { object: "program", livemode, id: "pgm_1", slug, name, status: "active" }
      const expected = JSON.stringify({
        ...record(recipient, livemode),
        ...(expansion.includes("campaign") && { campaign: known ? campaign : null }),
        ...(expansion.includes("program") && { program: known ? program : null }),
      })
      expect(recipientRecord(recipient, livemode, expansion, summaries).text).toBe(expected)
    }),
  )
})
