import { describe, expect, it } from "vitest"
import {
  CampaignId,
  Email,
  EventId,
  Npi,
  ProgramId,
  RecipientId,
  RequestId,
  requestHeaders,
  Token,
  WebhookEndpointId,
} from "../src/index.ts"

const key = requestHeaders["Idempotency-Key"]

describe("identifiers", () => {
  it.each([
    ["Token", Token, ["aB3xY9", "000000", "zzzzZZ"], ["aB3xY", "aB3xY99", "aB3x-9", "aB3xYé", "aB3xY9\n", ""]],
    [
      "Npi",
      Npi,
      ["1234567893", "0000000000"],
      ["123456789", "12345678901", "123456789a", "١٢٣٤٥٦٧٨٩٠", "1234567893\n"],
    ],
    ["Email", Email, ["a@b.co", "a.b+c@x-y.example.org"], ["a", "a@", "@b.co", "a b@c.de", "a@b.co,c@d.eu", ""]],
    ["Idempotency-Key", key, ["a", "~ !", "k".repeat(255)], ["", "k".repeat(256), "clé", "a\tb", "a\n"]],
  ])("%s has its exact form", (_name, schema, accepted, refused) => {
    for (const text of accepted) expect(schema.safeParse(text).success, text).toBe(true)
    for (const text of refused) expect(schema.safeParse(text).success, text).toBe(false)
  })

  it.each([
    ["rcp", RecipientId],
    ["cmp", CampaignId],
    ["pgm", ProgramId],
    ["evt", EventId],
    ["req", RequestId],
    ["whe", WebhookEndpointId],
  ])("%s_ is followed by one or more lowercase hex digits", (prefix, schema) => {
    for (const hex of ["0", "0199c2f27e1b7c3e8d5a4b6f90a1c2d3"]) {
      expect(schema.parse(`${prefix}_${hex}`)).toBe(`${prefix}_${hex}`)
    }
    for (const text of [
      `${prefix}_`,
      `${prefix}_0G`,
      `${prefix}_0A`,
      `x${prefix}_0`,
      `${prefix}0`,
      `${prefix}_0\n`,
      "xyz_0",
      7,
    ]) {
      expect(schema.safeParse(text).success, String(text)).toBe(false)
    }
  })
})
