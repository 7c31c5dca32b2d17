import fc from "fast-check"

const octet = fc.oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff }))

/** Everything that a header's value may hold. */
export const fieldValue = fc.string({ unit: octet.map((code) => String.fromCharCode(code)), maxLength: 40 })

const FIELDS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  Accept: fc.oneof(fieldValue, fc.constantFrom("", "*", "application/json", "text/html", "a/b,,;q=", ";q=1")),
  "If-None-Match": fieldValue,
  "Idempotency-Key": fc.oneof(fieldValue, fc.constantFrom("", "once", "x".repeat(300))),
  "Content-Type": fc.oneof(fieldValue, fc.constantFrom("application/json", "text/plain")),
  "Content-Encoding": fc.constantFrom("gzip", "identity", "x"),
  "Transfer-Encoding": fc.constant("chunked"),
  "X-Signature": fc.oneof(fieldValue, fc.constant("t=1,v1=00")),
  "X-Request-Id": fc.constant(`req_${"f".repeat(32)}`),
  "X-Forwarded-For": fc.oneof(fieldValue, fc.constantFrom("::1", "10.0.0.1, 1.1.1.1")),
  "X-HTTP-Method-Override": fc.constant("DELETE"),
  Host: fc.oneof(fieldValue, fc.constant("elsewhere.test")),
  Connection: fc.constantFrom("close", "upgrade", "keep-alive"),
  Upgrade: fc.constantFrom("websocket", "h2c"),
  Expect: fc.constantFrom("100-continue", "a-miracle"),
  Range: fc.constant("bytes=0-1"),
  Cookie: fieldValue,
}

/** A few headers that an operation reads, that a proxy reads, or that nobody reads. */
export const wildHeaders: fc.Arbitrary<Readonly<Record<string, string>>> = fc
  .array(
    fc.constantFrom(...Object.keys(FIELDS)).chain((name) => FIELDS[name]!.map((value) => [name, value] as const)),
    { maxLength: 4 },
  )
  .map((pairs) => Object.fromEntries(pairs))
