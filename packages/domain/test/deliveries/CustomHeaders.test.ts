import { Redacted, Result } from "effect"
import { describe, expect, it } from "vitest"
import { HeaderLines, headerNames, maskHeaderValues } from "../../src/deliveries/CustomHeaders.ts"
import { parseInput } from "../../src/textSchema.ts"

const parse = parseInput(HeaderLines)
const valuesOf = (text: string) => {
  const headers = Result.getOrThrow(parse(text))
  return headers && Redacted.value(headers)
}
const reasonOf = (text: string) => Result.getOrThrow(Result.flip(parse(text))).reason

describe("custom headers", () => {
  it("are entered one on each line, and none removes them", () => {
    expect(valuesOf("X-Api-Key: a:b \r\n\r\nAuthorization:Bearer abc\n")).toEqual({
      "X-Api-Key": "a:b",
      Authorization: "Bearer abc",
    })
    expect(valuesOf(" none\n")).toBeNull()
    expect(headerNames(Result.getOrThrow(parse("X-Api-Key: 1\nx-b: 2")))).toEqual(["X-Api-Key", "x-b"])
  })

  it.each([
    ["X-A: 1\nsecret", "line 2 doesn't start with a header name and a colon"],
    ["X A: secret", "line 1 doesn't start with a header name and a colon"],
    ["__proto__: secret", "line 1 doesn't start with a header name and a colon"],
    ["X-A:  ", "line 1 has no value, or one with other than visible ASCII characters"],
    ["X-A: sécret", "line 1 has no value, or one with other than visible ASCII characters"],
    ["X-A: secret\rX-B: 1", "line 1 has no value, or one with other than visible ASCII characters"],
    ["X-A: secret\nx-a: secret", "line 2 repeats a name"],
    [Array.from({ length: 11 }, (_, i) => `X-${i}: secret`).join("\n"), "there are more than 10 headers"],
    [`X-A: ${"secret".repeat(1000)}`, "it has more than 4096 characters"],
    [" \n", ""],
  ])("are rejected with a reason that doesn't contain the input: %j", (text, reason) => {
    expect(reasonOf(text)).toBe(reason)
  })

  it.each(
    [
      "Host",
      "Connection",
      "Content-Length",
      "Transfer-Encoding",
      "TE",
      "Trailer",
      "Upgrade",
      "Expect",
      "Cookie",
    ].concat(...["Keep-Alive", "Proxy-Authorization", "Webhook-Id", "X-Delivery-Anything", "Content-Anything"]),
  )("can't have the reserved name %s", (name) => {
    for (const each of [name, name.toLowerCase()]) expect(reasonOf(`${each}: 1`)).toBe("line 1 has a reserved name")
  })

  it("are masked in a response that repeats them, except for short words", () => {
    const headers = Result.getOrThrow(parse("Authorization: Bearer 12345678\nX-Key: 12345678-long\nX-Short: no"))
    expect(maskHeaderValues("no: Bearer 12345678, 12345678-long", headers)).toBe("no: Bearer •••, •••")
    expect(maskHeaderValues("cut: 12345678-lo", headers)).toBe("cut: •••")
    expect(maskHeaderValues("12345678", null)).toBe("12345678")
  })
})
