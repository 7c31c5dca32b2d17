import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { decode, eventExamples, InboundEvent, operations, rawQuery } from "../src/index.ts"

const query = (operationId: keyof typeof operations, search: string) => {
  const { query, parameterCodes } = operations[operationId]
  return decode(query, rawQuery(new URLSearchParams(search)), parameterCodes)
}
const since = "since=2026-11-21T02:45:29Z"

describe("rawQuery", () => {
  it("makes a list of a name in brackets or given twice, and text of any other", () => {
    const pairs = new URLSearchParams("a=1&b[]=2&c=3&c=4&c=5&d%5B%5D=6&d[]=7&e")
    expect(rawQuery(pairs)).toEqual({ a: "1", "b[]": ["2"], c: ["3", "4", "5"], "d[]": ["6", "7"], e: "" })
  })
  it("never changes a prototype, even for names such as __proto__", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom("__proto__", "constructor", "toString", "a"), fc.string())),
        (pairs) => {
          const raw = rawQuery(pairs)
          expect(Object.getPrototypeOf(raw)).toBe(Object.prototype)
          expect(Object.keys(raw).toSorted()).toEqual([...new Set(pairs.map(([name]) => name))].toSorted())
        },
      ),
    )
  })
})

describe("decode, of a query", () => {
  it("fills in missing parameters with their defaults", () => {
    expect(query("listEvents", since)).toEqual({
      ok: true,
      value: { since: "2026-11-21T02:45:29.000000Z", limit: 100, "types[]": [], "expand[]": [] },
    })
  })
  it("reads everything an operation takes", () => {
    const search = `${since}&cursor=abc&limit=500&type=outreach.email_sent&types[]=outreach.email_opened&types%5B%5D=outreach.email_clicked&expand[]=recipient&expand%5B%5D=campaign&expand[]=recipient`
    expect(query("listEvents", search)).toEqual({
      ok: true,
      value: {
        since: "2026-11-21T02:45:29.000000Z",
        cursor: "abc",
        limit: 500,
        type: "outreach.email_sent",
        "types[]": ["outreach.email_opened", "outreach.email_clicked"],
        "expand[]": ["recipient", "campaign"],
      },
    })
  })

  it.each([
    ["listTokens", "", "MISSING_PARAMETER", "since"],
    ["listEvents", "limit=5", "MISSING_PARAMETER", "since"],
    ["getDigest", "", "MISSING_PARAMETER", "date"],
    ["presignUpload", "", "MISSING_PARAMETER", "filename"],
    ["listTokens", "since=", "INVALID_PARAMETER", "since"],
    ["listTokens", "since=2026-11-21T02:45:29+02:00", "INVALID_PARAMETER", "since"],
    ["listTokens", `${since}&${since}`, "INVALID_PARAMETER", "since"],
    ["listTokens", `${since}&cursor=`, "INVALID_PARAMETER", "cursor"],
    ["listTokens", `${since}&cursor=a&cursor=b`, "INVALID_PARAMETER", "cursor"],
    ["listTokens", `${since}&expand[]=recipient`, "INVALID_EXPAND", "expand[]"],
    ["listTokens", `${since}&expand[]=campaign&expand[]=`, "INVALID_EXPAND", "expand[]"],
    ["listTokens", `${since}&expand=campaign`, "INVALID_PARAMETER", "expand"],
    ["listTokens", `${since}&expand[0]=campaign`, "INVALID_PARAMETER", "expand[0]"],
    ["getToken", "expand[]=Campaign", "INVALID_EXPAND", "expand[]"],
    ["getToken", "since=2026-11-21T02:45:29Z", "INVALID_PARAMETER", "since"],
    ["getToken", "__proto__=x", "INVALID_PARAMETER", "__proto__"],
    ["getToken", `${"x".repeat(5000)}=1`, "INVALID_PARAMETER", "x".repeat(100)],
    ["getHealth", "verbose=1", "INVALID_PARAMETER", "verbose"],
    ["listEvents", `${since}&type=outreach.recipients_published`, "INVALID_TYPE_FILTER", "type"],
    ["listEvents", `${since}&type=`, "INVALID_TYPE_FILTER", "type"],
    ["listEvents", `${since}&types[]=clinician.account_created`, "INVALID_TYPE_FILTER", "types[]"],
    ["listEvents", `${since}&type=outreach.email_sent&type=outreach.email_sent`, "INVALID_PARAMETER", "type"],
    ["listEvents", `${since}&expand[]=organization`, "INVALID_EXPAND", "expand[]"],
    ["listCampaignRecipients", since, "INVALID_PARAMETER", "since"],
    ["listCampaignRecipients", "expand[]=recipient", "INVALID_EXPAND", "expand[]"],
    ["getDigest", "date=2026-02-30", "INVALID_PARAMETER", "date"],
    ["getDigest", "date=2026-11-20&date=2026-11-20", "INVALID_PARAMETER", "date"],
  ] as const)("of %s refuses %j with %s about %s", (operationId, search, code, parameter) => {
    expect(query(operationId, search)).toMatchObject({ ok: false, refusal: { code, parameter } })
  })

  it.each(["0", "501", "1e2", "abc", "", "-1", "+5", "05", "5.0", " 5", "0x10", "٥", "1000", "99999999999999999999"])(
    "refuses limit=%j",
    (limit) => {
      expect(query("listCampaignRecipients", new URLSearchParams({ limit }).toString())).toEqual({
        ok: false,
        refusal: { code: "INVALID_PARAMETER", parameter: "limit", message: "limit: must be an integer from 1 to 500" },
      })
    },
  )
  it("takes every limit from 1 to 500 and no other number", () => {
    fc.assert(
      fc.property(fc.integer({ min: -600, max: 1200 }), (limit) => {
        const decoded = query("listCampaignRecipients", `limit=${limit}`)
        if (limit >= 1 && limit <= 500) expect(decoded).toMatchObject({ ok: true, value: { limit } })
        else expect(decoded.ok).toBe(false)
      }),
    )
  })
  it("explains that an unescaped + became a space", () => {
    const decoded = query("listTokens", "since=2026-11-21T02:45:29.123456+02:00")
    expect(decoded.ok ? "" : decoded.refusal.message).toMatch(/^since: holds a space .* unescaped \+/)
  })
  it("returns a value or a documented error for any query, without throwing", () => {
    const name = fc.oneof(
      fc.constantFrom("since", "limit", "type", "types[]", "expand[]", "cursor", "__proto__"),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.string())), (pairs) => {
        const { query, parameterCodes, errors } = operations.listEvents
        const decoded = decode(query, rawQuery(pairs), parameterCodes)
        if (!decoded.ok) expect(errors).toContain(decoded.refusal.code)
      }),
    )
  })
})

it.each([
  ["getToken", { token: "aB3xY" }, "INVALID_TOKEN", "token"],
  ["getToken", { token: "aB3xY9/" }, "INVALID_TOKEN", "token"],
  ["listCampaignRecipients", { id: "cmp_XYZ" }, "INVALID_CAMPAIGN_ID", "id"],
  ["listCampaignRecipients", { id: "pgm_0f" }, "INVALID_CAMPAIGN_ID", "id"],
  ["receiveWebhook", { endpoint_id: "x" }, "INVALID_PARAMETER", "endpoint_id"],
] as const)("decode, of path parameters of %s refuses %j with %s", (operationId, path, code, parameter) => {
  const { pathParameters, parameterCodes } = operations[operationId]
  expect(decode(pathParameters, path, parameterCodes)).toMatchObject({ ok: false, refusal: { code, parameter } })
})

describe("decode, of a body", () => {
  const event = eventExamples["clinician.account_created"]
  it.each([
    [{ ...event, event_id: undefined }, "MISSING_PARAMETER", "event_id"],
    [{ ...event, event_id: "7" }, "INVALID_PARAMETER", "event_id"],
    [{ ...event, source: [] }, "INVALID_PARAMETER", "source"],
    [[], "INVALID_PARAMETER", "body"],
    [null, "INVALID_PARAMETER", "body"],
    ["text", "INVALID_PARAMETER", "body"],
  ])("refuses %j with %s about %s", (body, code, parameter) => {
    expect(decode(InboundEvent, body)).toMatchObject({ ok: false, refusal: { code, parameter } })
  })
  it("names the invalid field without repeating its value", () => {
    const decoded = decode(InboundEvent, { ...event, event_id: "dana.reyes@clinic.test" })
    expect(JSON.stringify(decoded)).not.toContain("dana")
  })
})
