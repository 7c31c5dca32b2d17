import { Result, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { CampaignId } from "../src/Identifier.ts"
import { Clinician, EmailAddress, Npi } from "../src/recipients/Clinician.ts"
import { Instant } from "../src/Timestamp.ts"
import { noneOr, parseInput, wholeNumber } from "../src/textSchema.ts"

const SECRET = "hunter2"
const port = noneOr(wholeNumber(0, 65_535), "none, or a port")

describe("parseInput", () => {
  it.each<[string, Schema.Codec<unknown, string>, expected: string, reason: string]>([
    ["an id", CampaignId, "the id of a campaign: cmp_ and 32 hex digits", ""],
    ["an NPI", Npi, "a valid NPI of ten digits", "the NPI is not ten digits"],
    ["an e-mail address", EmailAddress, "an e-mail address", "the e-mail address is not valid"],
    [
      "a time",
      Instant,
      "a time such as 2026-12-01T09:00:00Z; it must be an ISO 8601 date-time such as 2026-11-21T02:45:29Z",
      "",
    ],
    ["a number or none", port, "none, or a port", ""],
    ["one of two words", Schema.Literals(["a", "b"]).annotate({ expected: "a or b" }), "a or b", ""],
  ])("says what is expected of %s, and repeats nothing of the text", (_, schema, expected, reason) => {
    expect(parseInput(schema)(SECRET)).toEqual(Result.fail({ expected, reason }))
  })

  it("gives the reason of the first member that is not valid", () => {
    const parse = parseInput(Clinician)
    expect(parse({ npi: "1", email: SECRET })).toMatchObject({ failure: { reason: "the NPI is not ten digits" } })
    expect(parse({ npi: null, email: SECRET })).toMatchObject({
      failure: { reason: "the e-mail address is not valid" },
    })
  })

  it.each([
    ["none", null],
    ["0", 0],
    ["65535", 65_535],
  ])("parses %s", (text, value) => {
    expect(parseInput(port)(text)).toEqual(Result.succeed(value))
  })
})
