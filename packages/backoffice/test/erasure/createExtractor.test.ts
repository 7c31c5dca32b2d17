import type { OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { describe, expect, it } from "vitest"
import { createExtractor, tokenWords } from "../../src/erasure/createExtractor.ts"

const own = { npi: "1234567893", email: "ann+a@clinic.test", token: "aB3dE9" }
const other = { npi: "1000000004", email: "bob@clinic.test", token: "zZ1zZ1" }
const [id, otherId] = ["1", "2"].map((digit) => `rcp_${digit.repeat(32)}`)

const extract = createExtractor(
  {
    organizationId: "org_0" as OrganizationId,
    npis: [own.npi],
    emails: [own.email],
    recipients: [{ id: id as RecipientId, token: own.token }],
  },
  new Set([other.token]),
)
const extracted = (value: unknown) => extract(JSON.stringify(value))

describe("createExtractor", () => {
  it.each([
    `${own.npi} ANN+A@Clinic.test ?to=ann%2Ba%40clinic.test /l/${own.token} ${id}`,
    "Call 2125550123, or 91000000004, by planet or 2026-11-22",
    "cut off: {",
  ])("keeps the text %j", (text) => {
    expect(extract(text)).toBe(text)
  })

  it.each([
    [`npi ${other.npi}`, "npi [withheld]"],
    ["to=BOB%40clinic.test&x", "to=[withheld]&x"],
    ["an josé@büro.test, und", "an [withheld], und"],
    [`{"cut": "bob\\u0040clinic.test`, '{"cut": "[withheld]'],
    [`/l/${other.token}?r=${otherId}`, "/l/[withheld]?r=[withheld]"],
  ])("withholds what names others in %j", (text, expected) => {
    expect(extract(text)).toBe(expected)
  })

  it("keeps only the subject's records from a mixed list", () => {
    const mine = { ...own, name: "Ann", visits: [{ at: 1 }] }
    expect(extracted({ data: [mine, { name: "Bob" }, other], more: true })).toEqual({ data: [mine], more: true })
  })

  it("omits records that name only other people, and keeps those that name no one", () => {
    const value = { ...own, manager: { ...other, name: "Bob" }, topics: [{ code: 7 }, { code: 8, by: other.email }] }
    expect(extracted(value)).toEqual({ ...own, topics: [{ code: 7 }] })
  })

  it("withholds other people in the values and keys that it keeps", () => {
    const value = { ...own, [other.email]: 1, related: [own.npi, other.npi, Number(other.npi)] }
    expect(extracted(value)).toEqual({ ...own, "[withheld]": 1, related: [own.npi, "[withheld]", "[withheld]"] })
  })

  it("takes time in proportion to the text", () => {
    const long = "a".repeat(100_000)
    expect(extract(long)).toBe(long)
  })
})

it("tokenWords finds the words that look like tokens", () => {
  expect(tokenWords(`{"token":"aB3dE9","at":"/l/zZ1zZ1"} toolong ${own.npi}`)).toEqual(["aB3dE9", "zZ1zZ1"])
})
