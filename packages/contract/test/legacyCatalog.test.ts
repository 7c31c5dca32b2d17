import { describe, expect, it } from "vitest"
import { legacyCatalog } from "../src/catalogs.ts"

describe("the legacy catalog", () => {
  it("writes only a code and a message by default", () => {
    const body = legacyCatalog.body("NOT_IMPLEMENTED", { message: "Surveys are in private preview." })
    expect(JSON.stringify(body)).toBe(
      '{"error":{"code":"NOT_IMPLEMENTED","message":"Surveys are in private preview."}}',
    )
  })

  it("lists each fault with its place in the survey, and reads it again", () => {
    const errors = [{ code: "too_small", path: "questions[0].text", message: "Write at least one character." }]
    const body = legacyCatalog.body("VALIDATION_ERROR", { message: "The survey is not valid.", details: { errors } })
    expect(body).toEqual({ error: { code: "VALIDATION_ERROR", message: "The survey is not valid.", errors } })
    expect(legacyCatalog.parse(body)).toMatchObject({ code: "VALIDATION_ERROR", details: { errors } })
  })

  it("knows the status of every code", () => {
    expect(Object.entries(legacyCatalog.codes).map(([code, { status }]) => [code, status])).toEqual([
      ["VALIDATION_ERROR", 400],
      ["UNAUTHORIZED", 401],
      ["METHOD_NOT_ALLOWED", 405],
      ["RATE_LIMITED", 429],
      ["INTERNAL_ERROR", 500],
      ["NOT_IMPLEMENTED", 501],
      ["SERVICE_UNAVAILABLE", 503],
    ])
  })

  it("takes no code of the partner table that the legacy endpoints never answer", () => {
    // @ts-expect-error a partner code
    expect(() => legacyCatalog.body("TOKEN_NOT_FOUND", {})).toThrow(RangeError)
  })

  it("marks an unimplemented draft as not retryable", () => {
    const body = legacyCatalog.body("NOT_IMPLEMENTED", {})
    expect(legacyCatalog.parse(body)).toMatchObject({ code: "NOT_IMPLEMENTED", status: 501, retry: "no" })
  })

  it("reads a body that is not an error as one without a code", () => {
    for (const body of [{ error: "x" }, { error: null }, {}, [], "<html>"])
      expect(legacyCatalog.parse(body)).toMatchObject({ code: null, details: null })
  })
})
