import { describe, expect, it } from "vitest"
import type * as z from "zod"
import {
  CampaignSummary,
  Digest,
  DigestRecord,
  examples,
  FunnelCounts,
  Health,
  LegacyError,
  PartnerError,
  ProgramSummary,
  QuotaStatus,
  RecipientList,
  RecipientRecord,
} from "../src/index.ts"

const recipient = examples.getToken.response
const page = examples.listTokens.response
const digest = examples.getDigest.response
const partnerError = {
  error: {
    type: "invalid_request_error",
    code: "INVALID_PARAMETER",
    message: "limit: must be an integer from 1 to 500",
    details: { parameter: "limit" },
    doc_url: "https://docs.outreach.test/errors#INVALID_PARAMETER",
    request_id: "req_0f",
  },
}

const errorOf = (envelope: z.ZodType) => (envelope as unknown as z.ZodObject<{ error: z.ZodType }>).shape.error

/** The specification's field tables. Optional and nullable are those of its third column and its notes. */
const FIELDS: Readonly<Record<string, string>> = {
  RecipientRecord:
    "object livemode token npi email service_recipient_id service_campaign_id service_program_id created_at updated_at sent_at bounced_at last_event_at campaign program",
  CampaignSummary: "object livemode id name program_id status",
  ProgramSummary: "object livemode id slug name status",
  RecipientList: "object livemode data has_more next_cursor url",
  Health: "status version timestamp",
  PartnerError: "type code message details doc_url request_id",
}

const resources = [
  {
    name: "RecipientRecord",
    schema: RecipientRecord,
    example: recipient,
    optional: ["campaign", "program"],
    nullable: ["updated_at", "sent_at", "bounced_at", "last_event_at", "campaign", "program"],
  },
  { name: "CampaignSummary", schema: CampaignSummary, example: recipient.campaign!, optional: [], nullable: [] },
  { name: "ProgramSummary", schema: ProgramSummary, example: recipient.program!, optional: [], nullable: [] },
  { name: "RecipientList", schema: RecipientList, example: page, optional: [], nullable: ["next_cursor"] },
  { name: "Digest", schema: Digest, example: digest, optional: [], nullable: [] },
  { name: "DigestRecord", schema: DigestRecord, example: digest.data[0]!, optional: [], nullable: [] },
  {
    name: "QuotaStatus",
    schema: QuotaStatus,
    example: digest.data[0]!.quota.learner_qualified,
    optional: [],
    nullable: ["target", "remaining", "reached_at"],
  },
  { name: "Health", schema: Health, example: examples.getHealth.response, optional: [], nullable: [] },
  {
    name: "PartnerError",
    schema: errorOf(PartnerError),
    example: partnerError.error,
    optional: ["details"],
    nullable: ["details"],
  },
  {
    name: "LegacyError",
    schema: errorOf(LegacyError),
    example: { code: "VALIDATION_ERROR", message: "no", errors: [{ code: "too_small", path: "title", message: "no" }] },
    optional: ["errors"],
    nullable: [],
  },
] as const

describe.each(resources)("$name", ({ name, schema, example, optional, nullable }) => {
  const fields = Object.keys(example)
  const withoutField = (field: string) => Object.fromEntries(Object.entries(example).filter(([name]) => name !== field))

  it("accepts its example, which has every field of the specification", () => {
    expect(schema.parse(example)).toEqual(example)
    expect(fields.toSorted()).toEqual((FIELDS[name]?.split(" ") ?? fields).toSorted())
  })
  it.each(fields)("requires %s exactly where the specification does", (field) => {
    expect(schema.safeParse(withoutField(field)).success).toBe((optional as readonly string[]).includes(field))
  })
  it.each(fields)("lets %s be null exactly where the specification does", (field) => {
    expect(schema.safeParse({ ...example, [field]: null }).success).toBe(
      (nullable as readonly string[]).includes(field),
    )
  })
  it.each(fields)("rejects a %s of another type", (field) => {
    const wrong = typeof (example as Record<string, unknown>)[field] === "boolean" ? "true" : true
    expect(schema.safeParse({ ...example, [field]: wrong }).success).toBe(false)
  })
  it("lets a newer server's field pass, and drops it", () => {
    expect(schema.parse({ ...example, brand_new: 1 })).toEqual(example)
  })
})

it("list envelope has a cursor exactly when there is more", () => {
  expect(RecipientList.safeParse({ ...page, has_more: true, next_cursor: "abc" }).success).toBe(true)
  expect(RecipientList.safeParse({ ...page, has_more: true }).success).toBe(false)
  expect(RecipientList.safeParse({ ...page, next_cursor: "abc" }).success).toBe(false)
})

it.each([
  ["recipient_record", RecipientRecord, recipient],
  ["campaign", CampaignSummary, recipient.campaign!],
  ["program", ProgramSummary, recipient.program!],
  ["list", RecipientList, page],
  ["digest", Digest, digest],
])("discriminators %s is the only `object` its schema accepts", (object, schema, example) => {
  expect(example.object).toBe(object)
  expect(schema.safeParse({ ...example, object: "thing" }).success).toBe(false)
})

it("FunnelCounts requires three non-negative integers", () => {
  const counts = { account_created: 0, learner_qualified: 0, completer_qualified: 0 }
  expect(FunnelCounts.safeParse(counts).success).toBe(true)
  for (const field of Object.keys(counts)) {
    for (const value of [-1, 0.5, "1", null]) {
      expect(FunnelCounts.safeParse({ ...counts, [field]: value }).success).toBe(false)
    }
  }
})

it.each([
  ["type", "card_error"],
  ["code", "NO_SUCH_CODE"],
  ["doc_url", "errors#INVALID_PARAMETER"],
  ["request_id", "0f"],
  ["details", ["limit"]],
])("PartnerError refuses a %s such as %j", (field, value) => {
  expect(PartnerError.safeParse({ error: { ...partnerError.error, [field]: value } }).success).toBe(false)
})
