import fc from "fast-check"
import { describe, expect, expectTypeOf, it } from "vitest"
import * as z from "zod"
import { defineCatalog } from "../src/defineCatalog.ts"
import type { ResponseHead } from "../src/parse.ts"
import { partnerEnvelope } from "../src/partnerEnvelope.ts"
import { problemJson } from "../src/problemJson.ts"
import { payments, tables } from "./payments.ts"

const partner = defineCatalog({ ...tables, envelope: partnerEnvelope })

const headOf = (status: number, headers: Record<string, string> = {}): ResponseHead => ({
  status,
  headers: new Headers(headers),
})

/** A problem+json body of the payments service. */
const problem = (code: string) => ({ type: tables.docUrl(code), title: "A title.", status: 402, code })

describe("a client", () => {
  it("parses the service's response, typed by the code", async () => {
    const card = { brand: "visa", last: [4, 2] }
    const details = { reason: "stolen" as const, card, retryFrom: "2026-11-26T00:00:00Z" }
    const response = payments.error("CARD_DECLINED", { details }).toResponse({ requestId: "req_1", instance: "/p/1" })
    const said = payments.parse(await response.text(), response)
    expect(said).toEqual({
      code: "CARD_DECLINED",
      unknownCode: null,
      type: "payment",
      status: 402,
      message: "The card was declined.",
      details: { ...details, retryFrom: new Date("2026-11-26T00:00:00Z") },
      docUrl: "https://pay.example/errors/CARD_DECLINED",
      retry: "no",
      retryAfter: null,
      requestId: "req_1",
      instance: "/p/1",
    })
    if (said.code !== "CARD_DECLINED") return expect.unreachable()
    expectTypeOf(said.details.retryFrom).toEqualTypeOf<Date | undefined>()
    expectTypeOf(said.details.card?.last).toEqualTypeOf<number[] | undefined>()
    expectTypeOf(said.type).toEqualTypeOf<"payment">()
  })

  it("has a case for each code and a last one, so that a switch over them is whole", () => {
    const said = payments.parse({})
    expectTypeOf(said.code).toEqualTypeOf<"CARD_DECLINED" | "GATEWAY_DOWN" | "TOO_MANY" | "INTERNAL" | null>()
    if (said.code === null) expectTypeOf(said.unknownCode).toEqualTypeOf<string | null>()
    if (said.retry === "after") expectTypeOf(said.retryAfter).toEqualTypeOf<number>()
  })

  it("keeps all readable fields of an unknown code", () => {
    const error = {
      type: "gateway",
      code: "GATEWAY_SLOW",
      message: "Slow.",
      details: { seconds: 9 },
      doc_url: "https://pay.example/errors/GATEWAY_SLOW",
    }
    expect(partner.parse({ error: { ...error, request_id: "r" } }, headOf(504))).toEqual({
      code: null,
      unknownCode: "GATEWAY_SLOW",
      type: "gateway",
      status: 504,
      message: "Slow.",
      details: { seconds: 9 },
      docUrl: "https://pay.example/errors/GATEWAY_SLOW",
      retry: "backoff",
      retryAfter: null,
      requestId: "r",
    })
  })

  it.each([
    ["problem+json", payments, problem("TOO_MANY"), ["type", "title", "status", "code"]],
    ["the envelope", partner, partner.body("TOO_MANY", { requestId: "r" } as never), ["error", "type", "code"]],
  ] as const)("does not take another service's body for its own, in %s", (_, catalog, own, members) => {
    expect(catalog.parse(own).code).toBe("TOO_MANY")
    const text = JSON.stringify(own)
    const others = [text.replace("pay.example", "x.example"), text.replace("errors/TOO_MANY", "errors/MANY")]
    others.push(...members.map((name) => text.replace(`"${name}"`, '"other"')))
    const nothing = { code: null, unknownCode: null, type: null, message: null, details: null, docUrl: null }
    for (const other of others)
      expect(catalog.parse(other, headOf(429))).toEqual({ ...nothing, status: 429, retry: "backoff", retryAfter: null })
  })

  it("recognizes the URLs of several deployments with isDocUrl, and never throws because of it or of a custom envelope", () => {
    const isDocUrl = (url: string, code: string) => url.endsWith(tables.codes[code as "TOO_MANY"].title)
    const catalog = defineCatalog({ ...tables, envelope: problemJson, isDocUrl })
    const codeOf = (type: string, code: string) => catalog.parse({ ...problem(code), type }).code
    expect(codeOf("https://b.example/Too many requests.", "TOO_MANY")).toBe("TOO_MANY")
    expect([codeOf("https://b.example", "TOO_MANY"), codeOf("https://b.example", "LATER")]).toEqual([null, null])
    const read = ({ error }: { readonly error?: { code: string } }) => ({ code: error!.code })
    expect(defineCatalog({ ...tables, envelope: { ...problemJson, read } }).parse({}).code).toBe(null)
  })

  it("treats a code with invalid details as an unknown code", () => {
    const said = payments.parse({ ...problem("CARD_DECLINED"), reason: "lost" })
    expect(said).toMatchObject({
      code: null,
      unknownCode: "CARD_DECLINED",
      type: "payment",
      details: { reason: "lost" },
    })
  })

  it.each([
    [429, { "Retry-After": "3" }, { retry: "after", retryAfter: 3 }],
    [503, { "Retry-After": "3" }, { retry: "after", retryAfter: 3 }],
    [503, {}, { retry: "backoff", retryAfter: null }],
    [502, { "Retry-After": "3" }, { retry: "backoff", retryAfter: 3 }],
    [501, {}, { retry: "no", retryAfter: null }],
    [404, {}, { retry: "no", retryAfter: null }],
  ] as const)("goes by the status %i with %j where the body says nothing", (status, headers, expected) => {
    for (const body of ["<html>Bad gateway</html>", "", null, undefined, [], "[1]", 7, {}, { error: {} }])
      expect(payments.parse(body, headOf(status, headers))).toMatchObject({ code: null, status, ...expected })
  })

  it("reads the wait from Retry-After, in seconds or relative to Date, or from the body", () => {
    const body = payments.body("TOO_MANY", { retryAfter: 5 })
    const waitOf = (headers: Record<string, string>) => {
      const { retry, retryAfter } = payments.parse(body, headOf(429, headers))
      return [retry, retryAfter]
    }
    const sent = "Thu, 26 Nov 2026 00:00:00 GMT"
    expect(waitOf({ "Retry-After": "7" })).toEqual(["after", 7])
    expect(waitOf({ "Retry-After": "Thu, 26 Nov 2026 00:01:00 GMT", Date: sent })).toEqual(["after", 60])
    expect(waitOf({ "Retry-After": "Thu Nov 26 00:01:00 2026", Date: sent })).toEqual(["after", 60])
    expect(waitOf({ "Retry-After": "Wed, 25 Nov 2026 00:01:00 GMT", Date: sent })).toEqual(["after", 0])
    for (const header of ["soon", "soon-5", "5 minutes", "-1", "Infinity", "", "9".repeat(400)])
      expect(waitOf({ "Retry-After": header, Date: sent })).toEqual(["after", 5])
    expect(payments.parse(problem("TOO_MANY"))).toMatchObject({ retry: "backoff", retryAfter: null })
  })

  it("does not read a text of more than a million characters", () => {
    const text = JSON.stringify(payments.body("GATEWAY_DOWN", { message: "x".repeat(1_000_000) }))
    expect(payments.parse(text)).toMatchObject({ code: null, unknownCode: null, message: null })
  })

  it("never throws and never invents a code, for any body", () => {
    const member = fc.oneof(
      fc.anything(),
      fc.constantFrom("__proto__", "constructor", "toString", "TOO_MANY", tables.docUrl("TOO_MANY")),
    )
    const hostile = fc.record(
      {
        code: member,
        type: member,
        title: member,
        status: fc.oneof(fc.nat(), member),
        detail: member,
        details: member,
        retry_after: member,
        error: fc.object(),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(fc.anything(), hostile, fc.json(), fc.string()), fc.string(), (body, header) => {
        for (const catalog of [payments, partner]) {
          const said = catalog.parse(body, { status: 500, headers: { get: () => header } })
          expect([...Object.keys(tables.codes), null]).toContain(said.code)
          expect(said.retryAfter ?? 0).toBeGreaterThanOrEqual(0)
        }
      }),
    )
  })

  it("reads details that are nested deeper than their schema can follow as a code of the future", () => {
    const catalog = defineCatalog({
      ...tables,
      codes: {
        TREE: { type: "payment", status: 400, title: "A tree.", details: z.record(z.string(), z.json()) },
        INTERNAL: tables.codes.INTERNAL,
      },
      envelope: problemJson,
    })
    const depth = 100_000
    const said = catalog.parse(
      JSON.stringify({ ...problem("TREE"), deep: 0 }).replace("0}", `${"[".repeat(depth)}${"]".repeat(depth)}}`),
    )
    expect(said).toMatchObject({ code: null, unknownCode: "TREE", retry: "no" })
    expect(catalog.parse({ ...problem("TREE"), deep: [[1]] })).toMatchObject({ code: "TREE", details: { deep: [[1]] } })
  })

  it.each([
    ["is asynchronous", z.object({}).refine(async () => true)],
    ["throws", z.object({}).refine(() => expect.unreachable())],
  ])("fits no details to a schema that %s, which checkDetails says", (_, details) => {
    const codes = {
      SLOW: { type: "payment", status: 400, title: "Slow.", details },
      INTERNAL: tables.codes.INTERNAL,
    } as const
    const catalog = defineCatalog({ ...tables, codes, envelope: problemJson, checkDetails: true })
    expect(catalog.parse(problem("SLOW"))).toMatchObject({ code: null, unknownCode: "SLOW" })
    expect(() => catalog.error("SLOW", { details: {} })).toThrow(
      "details of SLOW: their schema throws or is asynchronous",
    )
  })
})

describe("both envelopes", () => {
  it("preserve the error, with any names in its details", () => {
    const name = fc.oneof(
      fc.string(),
      fc.constantFrom("type", "title", "status", "detail", "instance", "code", "details", "request_id", "retry_after"),
      fc.constantFrom("__proto__", "constructor", "errors"),
    )
    const anyDetails = fc.dictionary(name, fc.jsonValue(), { noNullPrototype: true })
    const catalogs = [
      defineCatalog({ ...tables, envelope: partnerEnvelope }),
      defineCatalog({ ...tables, envelope: problemJson }),
    ] as const
    fc.assert(
      fc.property(anyDetails, fc.string(), fc.string(), (details, message, requestId) => {
        for (const catalog of catalogs) {
          const text = JSON.stringify(catalog.body("GATEWAY_DOWN", { details, message, requestId }))
          const said = catalog.parse(text)
          expect(said).toMatchObject({ code: "GATEWAY_DOWN", status: 502, message, requestId })
          expect(JSON.parse(JSON.stringify(said.details))).toEqual(JSON.parse(JSON.stringify(details)))
        }
      }),
    )
  })

  it("of problem+json keeps its own members, and nests details that are called the same", () => {
    const body = payments.body("GATEWAY_DOWN", { details: { status: "up", type: 1, region: "eu" }, message: "Down." })
    expect(body).toEqual({
      type: "https://pay.example/errors/GATEWAY_DOWN",
      title: "The gateway does not respond",
      status: 502,
      detail: "Down.",
      code: "GATEWAY_DOWN",
      region: "eu",
      details: { status: "up", type: 1 },
    })
  })
})
