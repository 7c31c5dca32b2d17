import fc from "fast-check"
import type { DocumentedOperation } from "./document.ts"
import { type Bearer, type FuzzRequest, targetOf } from "./FuzzRequest.ts"
import { slips } from "./slips.ts"
import { type Existing, validRequest } from "./validRequest.ts"

const octet = fc.oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff }))

/** Any valid header value. */
const fieldValue = fc.string({ unit: octet.map((code) => String.fromCharCode(code)), maxLength: 40 })

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

/** Some headers that the operation, proxies or no component reads. */
const wildHeaders: fc.Arbitrary<Readonly<Record<string, string>>> = fc
  .array(
    fc.constantFrom(...Object.keys(FIELDS)).chain((name) => FIELDS[name]!.map((value) => [name, value] as const)),
    { maxLength: 4 },
  )
  .map((pairs) => Object.fromEntries(pairs))

/** Creates the arbitrary of requests that only follow HTTP's grammar, and not always. */
export const wildRequest = (operation: DocumentedOperation, existing: Existing): fc.Arbitrary<FuzzRequest> =>
  fc
    .tuple(
      fc.option(validRequest(operation, existing), { nil: undefined }),
      path(operation, existing),
      query(operation, existing),
      method(operation),
      wildHeaders,
      bearer,
      fc.option(fc.constantFrom("", "{}", "\0", '{"__proto__":{}}', "x".repeat(3000)), { freq: 3, nil: undefined }),
    )
    .map(([valid, path, query, method, headers, bearer, body]) => ({
      operation,
      method,
      path: extended(valid === undefined ? path : targetOf(valid), query),
      query: [],
      headers: { ...valid?.headers, ...headers },
      bearer,
      ...(body === undefined ? {} : { body }),
    }))

const extended = (target: string, query: string) =>
  query === "" ? target : `${target}${target.includes("?") ? "&" : "?"}${query}`

const encoded = fc.string({ unit: "binary", maxLength: 20 }).map(encodeURIComponent)

// Node's client sends all bytes except controls and spaces unchanged.
const bytes = fc.oneof(
  fc.constantFrom(..."+ é [ ] { } | < ^ ` ' & = ; # ? * / // . .. \\ \" %".split(" "), ""),
  fc.constantFrom("%ZZ", "%00", "%ED%A0%80", "%C0%AF", "%FF", "%2B", "%2F", "%25", "%23"),
  fc.constantFrom("__proto__", "constructor", "toString"),
  encoded,
)

const text = (existing: Existing) =>
  fc.oneof(
    bytes,
    fc.array(bytes, { maxLength: 4 }).map((parts) => parts.join("")),
    known(existing).chain(slips).map(encodeURIComponent),
  )

const known = (existing: Existing) => fc.constantFrom(...Object.values(existing).flat())

const path = ({ path }: DocumentedOperation, existing: Existing): fc.Arbitrary<string> => {
  const segments = path.split("/").slice(1)
  const wild = fc.tuple(
    ...segments.map((segment) =>
      segment.startsWith("{")
        ? fc.oneof(text(existing), known(existing))
        : fc.oneof({ weight: 19, arbitrary: fc.constant(segment) }, { weight: 1, arbitrary: text(existing) }),
    ),
  )
  return wild.map((parts) => `/${parts.join("/")}`)
}

const query = ({ parameters }: DocumentedOperation, existing: Existing): fc.Arbitrary<string> => {
  const names = fc.constantFrom("", ...parameters.map(({ name }) => name))
  const values = fc.constantFrom("2026-01-01T00:00:00Z", "1", "campaign", "outreach.email_sent", "2026-01-01")
  const pair = fc.oneof(
    fc.tuple(names, values).map((both) => both.join("=")),
    fc.tuple(names, text(existing)).map((both) => both.join("=")),
    text(existing),
  )
  return fc.array(pair, { maxLength: 4 }).map((pairs) => pairs.join("&"))
}

const method = ({ method }: DocumentedOperation) =>
  fc.oneof(
    { weight: 7, arbitrary: fc.constant(method) },
    { weight: 2, arbitrary: fc.constantFrom("HEAD", "OPTIONS", "GET", "POST", "PUT", "DELETE", "PATCH", "TRACE") },
    { weight: 1, arbitrary: fc.constantFrom("PROPFIND", "QUERY", "PURGE", "BREW") },
  )

const bearer = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Bearer>("good") },
  { weight: 2, arbitrary: fc.constantFrom<Bearer>("scopeless", "revoked", "none") },
  { weight: 1, arbitrary: fieldValue.map((authorization): Bearer => ({ authorization })) },
)
