import fc from "fast-check"
import { describe, expect, expectTypeOf, it } from "vitest"
import { defineCatalog } from "../src/defineCatalog.ts"

const tables = {
  types: { payment_error: { retryable: "no" }, gateway_error: { retryable: "backoff" } },
  codes: {
    CARD_DECLINED: {
      type: "payment_error",
      status: 402,
      condition: "the issuer refused",
      details: { reason: "string", attempts: "number", final: "boolean" },
    },
    GATEWAY_DOWN: { type: "gateway_error", status: 502, condition: "the gateway does not answer" },
  },
} as const

const occurrence = { message: "Declined.", requestId: "req_1", docsUrl: "https://pay.example/docs" }

describe("defineCatalog", () => {
  it("makes another team's catalog with its own types, codes and details", () => {
    const catalog = defineCatalog(tables)
    const { error } = catalog.envelope("CARD_DECLINED", {
      ...occurrence,
      details: { reason: "expired", attempts: 2, final: true },
    })
    expectTypeOf(error.type).toEqualTypeOf<"payment_error">()
    expectTypeOf(error.details.reason).toEqualTypeOf<string>()
    expectTypeOf(error.details.attempts).toEqualTypeOf<number>()
    expectTypeOf(error.details.final).toEqualTypeOf<boolean>()
    expect(error.details).toEqual({ reason: "expired", attempts: 2, final: true })
    expect(catalog.httpStatus("GATEWAY_DOWN")).toBe(502)
    expect(catalog.retryability("gateway_error")).toBe("backoff")
    // @ts-expect-error the number is missing
    catalog.envelope("CARD_DECLINED", { ...occurrence, details: { reason: "expired", final: true } })
  })

  it("keeps literal types when the tables are written in the call", () => {
    const catalog = defineCatalog({
      types: { teapot_error: { retryable: "after_retry_after" } },
      codes: { TEAPOT: { type: "teapot_error", status: 418, condition: "short and stout" } },
    })
    expectTypeOf(catalog.httpStatus).parameter(0).toEqualTypeOf<"TEAPOT">()
    expect(catalog.envelope("TEAPOT", occurrence).error.type).toBe("teapot_error")
  })

  it("gives functions that work away from the catalog", () => {
    const { envelope, httpStatus, retryability } = defineCatalog(tables)
    expect(envelope("GATEWAY_DOWN", occurrence).error.code).toBe("GATEWAY_DOWN")
    expect(httpStatus("GATEWAY_DOWN")).toBe(502)
    expect(retryability("payment_error")).toBe("no")
  })

  it("never doubles the slash between the guides' address and the page", () => {
    const { envelope } = defineCatalog(tables)
    for (const docsUrl of ["https://pay.example/docs", "https://pay.example/docs/", "https://pay.example/docs//"]) {
      expect(envelope("GATEWAY_DOWN", { ...occurrence, docsUrl }).error.doc_url).toBe(
        "https://pay.example/docs/errors#GATEWAY_DOWN",
      )
    }
  })

  it("says null for details that were not given, null or undefined", () => {
    const { envelope } = defineCatalog(tables)
    for (const details of [{}, { details: null }, { details: undefined }]) {
      expect(envelope("GATEWAY_DOWN", { ...occurrence, ...details }).error.details).toBeNull()
    }
  })

  it("says that no unknown type may be retried, whatever its name", () => {
    const { retryability } = defineCatalog(tables)
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.constantFrom(...Object.getOwnPropertyNames(Object.prototype), "GATEWAY_DOWN")),
        (type) => Object.hasOwn(tables.types, type) || retryability(type) === "no",
      ),
    )
  })

  it("refuses a code that the catalog lacks", () => {
    const { envelope, httpStatus } = defineCatalog(tables)
    // @ts-expect-error no such code
    expect(() => envelope("constructor", occurrence)).toThrow(RangeError)
    // @ts-expect-error no such code
    expect(() => httpStatus("PAYMENT_ERROR")).toThrow("the catalog has no such code")
  })

  it("refuses a code whose type is not in the catalog", () => {
    expect(() =>
      defineCatalog({
        types: tables.types,
        // @ts-expect-error no such type
        codes: { LOST: { type: "toString", status: 500, condition: "never" } },
      }),
    ).toThrow("LOST has the unknown type toString")
  })

  it("refuses a status that is not an error", () => {
    for (const status of [200, 399, 600, 404.5, Number.NaN]) {
      expect(() =>
        defineCatalog({ types: tables.types, codes: { ODD: { type: "payment_error", status, condition: "never" } } }),
      ).toThrow(`ODD has the status ${status}`)
    }
  })
})
