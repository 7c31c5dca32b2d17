import fc from "fast-check"
import * as v from "valibot"
import { describe, expect, expectTypeOf, it } from "vitest"
import * as z from "zod"
import type { CatalogError } from "../src/CatalogError.ts"
import { defineCatalog } from "../src/defineCatalog.ts"
import type { Envelope } from "../src/Envelope.ts"
import { partnerEnvelope } from "../src/partnerEnvelope.ts"
import { problemJson } from "../src/problemJson.ts"
import { payments, tables } from "./payments.ts"

const expired = { details: { reason: "expired" } } as const

describe("an error of a catalog", () => {
  it("is an Error with its code, type, status, details, headers and cause", () => {
    const cause = new Error("the issuer said 54")
    const error = payments.error("CARD_DECLINED", { ...expired, message: "It ran out.", cause })
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({
      name: "CatalogError",
      code: "CARD_DECLINED",
      type: "payment",
      status: 402,
      retry: "no",
      message: "It ran out.",
      details: { reason: "expired" },
      headers: {},
      retryAfter: null,
      cause,
    })
    expect(error.stack).toMatch(/^CatalogError: It ran out\.\n.*\n?.*defineCatalog\.test/)
    expectTypeOf(error.code).toEqualTypeOf<"CARD_DECLINED">()
    expectTypeOf(error.type).toEqualTypeOf<"payment">()
    expectTypeOf(error.details.reason).toEqualTypeOf<"expired" | "stolen">()
  })

  it("takes exactly the options that its code needs", () => {
    // @ts-expect-error the details are missing
    payments.error("CARD_DECLINED")
    // @ts-expect-error not a reason
    payments.error("CARD_DECLINED", { details: { reason: "lost" } })
    // @ts-expect-error the brand of the nested card is missing
    payments.error("CARD_DECLINED", { details: { reason: "stolen", card: { last: [4, 2] } } })
    // @ts-expect-error retried after a time, and no time is given
    payments.error("TOO_MANY")
    // @ts-expect-error one of the two needs details
    payments.error("CARD_DECLINED" as "CARD_DECLINED" | "GATEWAY_DOWN", {})
    // @ts-expect-error no such code
    expect(() => payments.error("LOST")).toThrow(new RangeError("codes: there is no LOST"))
    // @ts-expect-error no such code
    expect(() => payments.error("constructor")).toThrow(RangeError)
    payments.error("GATEWAY_DOWN", { details: { anything: ["at", { all: 1 }] } })
  })

  it("carries the headers of its code, Retry-After and its own", () => {
    const error = payments.error("TOO_MANY", { retryAfter: 1.2, headers: { "X-Window": "60" } })
    expect(error.headers).toEqual({ "X-Limit": "100", "Retry-After": "2", "X-Window": "60" })
    expect(error.retryAfter).toBe(2)
  })

  it("contains each header once, ignoring case, and no undefined header", async () => {
    const headers = { "retry-after": "9", "CONTENT-TYPE": "application/json", "X-Window": undefined as never }
    const response = payments.error("TOO_MANY", { retryAfter: 7, headers }).toResponse({ requestId: "req_1" })
    expect(Object.fromEntries((response as Response).headers)).toEqual({
      ...{ "content-type": "application/json", "retry-after": "9", "x-limit": "100" },
    })
  })

  it("has whole seconds up to 68 years in Retry-After, and omits it for invalid values", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.double(), fc.constantFrom(Number.NaN, -1, -0, 1e300, Infinity, -Infinity)),
        (retryAfter) => {
          const { headers } = payments.error("TOO_MANY", { retryAfter })
          expect(headers["Retry-After"] ?? "0").toMatch(/^\d{1,10}$/)
        },
      ),
    )
    expect(payments.error("TOO_MANY", { retryAfter: Number.NaN }).headers).toEqual({ "X-Limit": "100" })
  })

  it("has no header value that Fetch rejects or that injects another header", async () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.constant("GET\r\nSet-Cookie: a=b")), (value) => {
        const error = payments.error("GATEWAY_DOWN", { headers: { Allow: value } })
        expect(error.headers["Allow"]).not.toMatch(/[\r\n\0]/)
        expect(() => error.toResponse()).not.toThrow()
      }),
    )
  })

  it("is the whole response for Fetch", async () => {
    const response = payments
      .error("TOO_MANY", { retryAfter: 7 })
      .toResponse({ requestId: "req_1", instance: "/payments" })
    expectTypeOf(response).toEqualTypeOf<Response>()
    expect(response.status).toBe(429)
    expect([...response.headers]).toEqual([
      ["content-type", "application/problem+json"],
      ["retry-after", "7"],
      ["x-limit", "100"],
    ])
    expect(await response.json()).toEqual({
      type: "https://pay.example/errors/TOO_MANY",
      title: "Too many requests.",
      status: 429,
      instance: "/payments",
      code: "TOO_MANY",
      request_id: "req_1",
      retry_after: 7,
    })
  })

  it("validates its details against their schema if the catalog is configured to", () => {
    const strict = defineCatalog({ ...tables, envelope: problemJson, checkDetails: true })
    const wrong = { details: { reason: "lost" } } as never
    expect(payments.error("CARD_DECLINED", wrong).code).toBe("CARD_DECLINED")
    expect(() => strict.error("CARD_DECLINED", wrong)).toThrow(/^details of CARD_DECLINED: /)
    expect(() => strict.body("CARD_DECLINED", wrong)).toThrow(TypeError)
    expect(strict.error("CARD_DECLINED", expired).code).toBe("CARD_DECLINED")
    expect(strict.error("GATEWAY_DOWN").code).toBe("GATEWAY_DOWN")
  })
})

it("details have the schema of any library that follows the standard, such as Valibot", () => {
  const details = v.object({ limit: v.object({ currency: v.string(), amount: v.pipe(v.number(), v.minValue(1)) }) })
  const codes = { ...tables.codes, LIMIT: { type: "payment", status: 422, title: "Over the limit.", details } } as const
  const catalog = defineCatalog({ ...tables, codes, envelope: problemJson, checkDetails: true })
  const limit = { currency: "EUR", amount: 100 }
  const said = catalog.parse(catalog.error("LIMIT", { details: { limit } }).toBody())
  if (said.code === "LIMIT") expectTypeOf(said.details.limit.amount).toEqualTypeOf<number>()
  expect(said).toMatchObject({ code: "LIMIT", details: { limit } })
  expect(() => catalog.error("LIMIT", { details: { limit: { ...limit, amount: 0 } } })).toThrow(/^details of LIMIT: /)
  // @ts-expect-error the amount is missing
  expect(() => catalog.error("LIMIT", { details: { limit: { currency: "EUR" } } })).toThrow(TypeError)
})

describe("a caught value", () => {
  const thrown = fc.oneof(
    fc.anything(),
    fc.string().map((text) => new Error(text)),
    fc.constantFrom({ code: "CARD_DECLINED", status: 402 }, Object.assign(new Error("x"), { code: "GATEWAY_DOWN" })),
  )

  it("becomes the unknown code if it isn't from the catalog, without leaking its content", () => {
    fc.assert(
      fc.property(thrown, (caught) => {
        expect(payments.is(caught)).toBe(false)
        expect(payments.from(caught).cause).toBe(caught)
        expect(payments.respond(caught)).toEqual({
          status: 500,
          headers: { "Content-Type": "application/problem+json" },
          body: {
            type: "https://pay.example/errors/INTERNAL",
            title: "Something went wrong.",
            status: 500,
            code: "INTERNAL",
          },
        })
      }),
    )
  })

  it("results in its own response if it is from the catalog, without its cause", () => {
    const error = payments.error("CARD_DECLINED", { ...expired, cause: new Error("pan 4242") })
    expect(payments.from(error)).toBe(error)
    const response = payments.respond(error, { requestId: "req_1" })
    expect(response).toMatchObject({ status: 402, body: { code: "CARD_DECLINED", reason: "expired" } })
    expect(JSON.stringify(response)).not.toContain("4242")
  })

  it("is typed by its code once the catalog knows it", () => {
    const caught: unknown = payments.error("CARD_DECLINED", expired)
    if (!payments.is(caught)) return expect.unreachable()
    if (caught.code === "CARD_DECLINED") expectTypeOf(caught.details.reason).toEqualTypeOf<"expired" | "stolen">()
    expectTypeOf(caught).toExtend<CatalogError>()
  })

  it("is of the catalog when another copy of the package and of the catalog made it", async () => {
    const url = "../src/defineCatalog.ts?another-copy"
    const copy: typeof import("../src/defineCatalog.ts") = await import(/* @vite-ignore */ url)
    expect(copy.defineCatalog).not.toBe(defineCatalog)
    const error = copy.defineCatalog({ ...tables, envelope: problemJson }).error("GATEWAY_DOWN")
    expect(payments.is(error)).toBe(true)
    expect(payments.from(error)).toBe(error)
  })

  it("is not of the catalog when another catalog with the same code made it", () => {
    const other = defineCatalog({ ...tables, docUrl: (code) => `https://other.example/${code}`, envelope: problemJson })
    expect(payments.is(other.error("GATEWAY_DOWN", { message: "a secret of the other" }))).toBe(false)
  })
})

describe("an envelope", () => {
  it("of the partner's form requires the id of the request", () => {
    const catalog = defineCatalog({ ...tables, envelope: partnerEnvelope })
    const error = catalog.error("CARD_DECLINED", expired)
    expect(JSON.stringify(error.toBody({ requestId: "req_1" }))).toBe(
      '{"error":{"type":"payment","code":"CARD_DECLINED","message":"The card was declined.","details":{"reason":"expired"},"doc_url":"https://pay.example/errors/CARD_DECLINED","request_id":"req_1"}}',
    )
    expect(catalog.body("GATEWAY_DOWN", { requestId: "req_1" })).toMatchObject({ error: { details: null } })
    // @ts-expect-error the id is missing
    expect(() => error.toBody()).not.toThrow()
    // @ts-expect-error the id is missing
    expect(catalog.respond(error).status).toBe(402)
  })

  it("can be custom, with a custom context", () => {
    const ours: Envelope<{ readonly trace: string }> = {
      contentType: "application/vnd.example+json",
      write: ({ code, message }, { trace }) => ({ code, message, trace }),
      read: ({ code, message, trace }) => ({ code, message, context: { trace: String(trace) } }),
      schema: ({ code }) => ({ properties: { code: { const: code } } }),
    }
    const catalog = defineCatalog({ ...tables, envelope: ours })
    const { headers, body } = catalog.respond(catalog.error("GATEWAY_DOWN"), { trace: "t1" })
    expect(headers).toEqual({ "Content-Type": "application/vnd.example+json" })
    expect(body).toEqual({ code: "GATEWAY_DOWN", message: "The gateway does not respond", trace: "t1" })
    expect(catalog.parse(body)).toMatchObject({ code: "GATEWAY_DOWN", status: 502, trace: "t1" })
    // @ts-expect-error the trace is missing
    catalog.body("GATEWAY_DOWN", {})
  })
})

describe("defineCatalog", () => {
  const define = (codes: object, unknown: unknown = "INTERNAL") =>
    defineCatalog({
      ...tables,
      codes: { ...tables.codes, ...codes } as never,
      unknown: unknown as never,
      envelope: problemJson,
    })

  it("rejects a code with a type that is not in the catalog, or a status that is not an error", () => {
    expect(() => define({ LOST: { type: "toString", status: 500, title: "Never." } })).toThrow(
      new TypeError("codes.LOST.type: add toString to types"),
    )
    for (const status of [200, 399, 600, 404.5, Number.NaN]) {
      expect(() => define({ ODD: { type: "payment", status, title: "Never." } })).toThrow(
        new TypeError(`codes.ODD.status: write one of 400 to 599, not ${status}`),
      )
    }
  })

  it.each([
    ["LOST", "default", "", "LOST"],
    ["toString", "default", "", "toString"],
    ["CARD_DECLINED", "default", "", "CARD_DECLINED"],
    [{ default: "INTERNAL" }, "400", "of 4xx ", undefined],
    [{ 400: "TOO_MANY" }, "default", "", undefined],
    [{ 400: "CARD_DECLINED", default: "INTERNAL" }, "400", "of 4xx ", "CARD_DECLINED"],
    [{ 400: "TOO_MANY", 503: "TOO_MANY", default: "INTERNAL" }, "503", "of 5xx ", "TOO_MANY"],
  ])(
    "rejects unknown codes that are missing, require details or have another class: %j",
    (unknown, key, kind, code) => {
      const message = `unknown (${key}): write a code ${kind}without a schema of details, not ${code}`
      expect(() => define({}, unknown)).toThrow(new TypeError(message))
    },
  )

  it("rejects unknown codes in the compiler too", () => {
    // @ts-expect-error no such code
    expect(() => defineCatalog({ ...tables, envelope: problemJson, unknown: "LOST" })).toThrow()
    const table = { 400: "CARD_DECLINED", default: "INTERNAL" } as const
    // @ts-expect-error CARD_DECLINED requires details
    expect(() => defineCatalog({ ...tables, envelope: problemJson, unknown: table })).toThrow()
  })

  it("lets names that every object inherits be codes", () => {
    const codes = JSON.parse('{"__proto__":{"type":"payment","status":409,"title":"Odd."}}')
    const catalog = define({ toString: { type: "payment", status: 418, title: "Short and stout." }, ...codes })
    expect(catalog.parse(catalog.body("toString" as never, {}))).toMatchObject({ code: "toString", status: 418 })
    expect(payments.parse({ code: "toString" }).code).toBeNull()
    expect(payments.parse({ code: "__proto__" }).code).toBeNull()
  })

  it("gives functions that work away from the catalog", () => {
    const { error, is, from, respond, body, retry, parse } = payments
    expect([is(error("GATEWAY_DOWN")), from(1).code, respond(1).status, retry("gateway")]).toEqual([
      true,
      "INTERNAL",
      500,
      "backoff",
    ])
    expect(parse(body("INTERNAL", {})).code).toBe("INTERNAL")
  })

  it("allows no retries for an unknown type", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.constantFrom(...Object.getOwnPropertyNames(Object.prototype), "GATEWAY_DOWN")),
        (type) => Object.hasOwn(tables.types, type) || payments.retry(type) === "no",
      ),
    )
  })

  it("keeps literal types when the tables are written in the call", () => {
    const catalog = defineCatalog({
      types: { teapot: { retry: "no" } },
      codes: {
        TEAPOT: { type: "teapot", status: 418, title: "Short.", details: z.object({ spout: z.int() }) },
        KETTLE: { type: "teapot", status: 500, title: "Stout." },
      },
      envelope: problemJson,
      docUrl: (code) => `https://tea.example/#${code}`,
      unknown: "KETTLE",
    })
    expectTypeOf<keyof typeof catalog.codes>().toEqualTypeOf<"TEAPOT" | "KETTLE">()
    expectTypeOf(catalog.codes.TEAPOT.status).toEqualTypeOf<418>()
    expectTypeOf(catalog.error("TEAPOT", { details: { spout: 1 } }).details.spout).toEqualTypeOf<number>()
  })
})
