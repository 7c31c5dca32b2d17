import { field, required } from "@outreach/backoffice/operations/Field"
import { CalendarDate } from "@outreach/domain/digest/Digest"
import { CampaignId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Timestamp"
import { wholeNumber } from "@outreach/domain/textSchema"
import { describe, expect, it } from "vitest"
import { parseInputs } from "../../src/view/inputs.ts"

const ID = `cmp_${"0".repeat(32)}`

const parse = (given: ReadonlyArray<readonly [string, string]>) =>
  parseInputs({ campaign: CampaignId, rate: required(wholeNumber(1, 1000)) }, given)

describe("the values of a query or a form", () => {
  it.each([
    [{ rate: " 20 " }, { campaign: undefined, rate: 20 }],
    [
      { campaign: ID, rate: "20", unknown: "ignored" },
      { campaign: ID, rate: 20 },
    ],
    [
      { campaign: "", rate: "1" },
      { campaign: undefined, rate: 1 },
    ],
  ])("are parsed by their schemas, and are undefined if absent or empty: %j", (given, values) =>
    expect(parse(Object.entries(given))).toEqual({ values, faults: {} }),
  )

  it("are all listed if missing or not valid, with the expected format but without the input", () => {
    const { faults } = parse([["campaign", "jane@clinic.test"]])
    expect(faults).toEqual({
      campaign: "campaign is not valid. It must be the id of a campaign: cmp_ and 32 hex digits.",
      rate: "rate is missing. It must be a whole number from 1 to 1000.",
    })
  })

  it("are not a valid range if the end is before the start", () => {
    const range = (from: string, to: string) =>
      parseInputs({ from: CalendarDate, to: CalendarDate }, Object.entries({ from, to }))
    expect(range("2026-11-23", "2026-11-22").faults).toEqual({ to: "to is not valid. It must not be before from." })
    expect(range("2026-11-23", "2026-11-23").faults).toEqual({})
  })

  it("are called by their labels, and a time without a zone is in UTC", () => {
    const at = required(field(Instant, "Published before", { kind: "instant" }))
    const { faults } = parseInputs({ at }, [])
    expect(faults["at"]).toMatch(/^Published before is missing\. It must be a time/)
    expect(parseInputs({ at }, [["at", "2026-12-01T09:00"]]).values).toEqual({ at: "2026-12-01T09:00:00.000000Z" })
  })

  it("that were given several times are joined by commas", () => {
    expect(
      parse([
        ["rate", "1"],
        ["rate", "2"],
      ]).faults,
    ).toEqual({ rate: "rate is not valid. It must be a whole number from 1 to 1000." })
  })
})
