import fc from "fast-check"
import { expect, it } from "vitest"
import { explain } from "../src/explain.ts"
import { BODY, NOW, SECRET, signed } from "./signed.ts"

const looked = (given: {
  header?: string | undefined
  body?: Uint8Array | string
  secrets?: readonly string[]
  receivedAt?: number
}) => {
  const { header = signed(), body = BODY, secrets = [SECRET], receivedAt = NOW } = given
  return explain({ header, body: Buffer.from(body), secrets, receivedAt })
}
const reason = (given: Parameters<typeof looked>[0]) => {
  const { verified, lines } = looked(given)
  expect(verified).toBe(false)
  return lines.join(" ")
}
const object = JSON.parse(BODY) as object
const latin = JSON.stringify({ ...object, metadata: { note: "Zoë — 診 🚀" } })

it("accepts a valid signature, and reports the clock difference in seconds", () => {
  expect(looked({})).toEqual({
    verified: true,
    lines: ["The signature is good: secret 1 of 1 made it.", "It was signed in the second it was received."],
  })
  expect(looked({ receivedAt: NOW + 300 }).verified).toBe(true)
  expect(reason({ receivedAt: NOW + 301 })).toContain("signed 301 s before it was received")
  expect(reason({ receivedAt: NOW - 86_400 })).toContain("signed 86400 s after it was received")
})

it.each([
  ["nothing", "", "no X-Signature header"],
  ["a space", signed().replace(",", " ,"), "a space"],
  ["its own name", `X-Signature: ${signed()}`, "name stands in its value"],
  ["no timestamp", signed().replace(/^t=\d+,/, ""), "0 timestamps"],
  ["two timestamps", `t=1,${signed()}`, "2 timestamps"],
  ["a date", signed().replace(/t=\d+/, "t=2026-11-21"), "not a whole number"],
  ["no entry", `t=${NOW}`, "no v1= entry"],
  ["capitals", signed().replace(/[0-9a-f]{64}/, (hex) => hex.toUpperCase().replace(/^./, "A")), "in capitals"],
  ["base64", signed().replace(/[0-9a-f]{64}/, "x".repeat(44)), "44 characters instead of 64"],
  ["junk", `${signed()},junk`, "no name or no ="],
])("tells that a header holds %s", (_, header, sentence) => {
  expect(explain({ header, body: Buffer.from(BODY), secrets: [SECRET], receivedAt: NOW }).lines.join(" ")).toContain(
    sentence,
  )
})

it.each([
  ["a line break", `${SECRET}\n`, "white space"],
  ["quotes", `"${SECRET}"`, "quotes"],
  ["its prefix lost", SECRET.slice(6), "with the prefix whsec_"],
  ["base64", Buffer.from(SECRET).toString("base64"), "base64"],
  ["a URL's encoding", SECRET.replace("_", "%5F"), "URL"],
])("tells that a secret was stored with %s", (_, secret, sentence) => {
  expect(reason({ secrets: ["another", secret] })).toContain(sentence)
})
it("tells that a secret was stored with a prefix that it does not have", () => {
  expect(reason({ header: signed(BODY, { secrets: ["bare"] }), secrets: ["whsec_bare"] })).toContain(
    "without the prefix whsec_",
  )
})

const pretty = JSON.stringify(object, null, 2)
it.each([
  ["pretty-printed it", BODY, pretty, "JSON.stringify(body)"],
  ["written it anew with Python", BODY, BODY.replaceAll('":', '": ').replaceAll(',"', ', "'), "JSON.stringify(body)"],
  ["parsed what was indented", pretty, BODY, "two spaces"],
  ["parsed what Python wrote", '{"a": [1, {"b": null}]}', '{"a":[1,{"b":null}]}', "json.dumps"],
  [
    "escaped what is not ASCII",
    latin,
    latin.replace(/[^\x20-\x7e]/gu, (it) =>
      [...Array(it.length).keys()].map((i) => `\\u${it.charCodeAt(i).toString(16).padStart(4, "0")}`).join(""),
    ),
    "JSON.stringify(body)",
  ],
  ["serialised it twice", BODY, JSON.stringify(BODY), "JSON string around it"],
  ["encoded it in base64", BODY, Buffer.from(BODY).toString("base64"), "isBase64Encoded"],
  ["decoded it as Latin-1", latin, Buffer.from(latin).toString("latin1"), "Latin-1"],
  ["added a byte order mark", BODY, `\ufeff${BODY}`, "byte order mark"],
  ["added a line break", BODY, `${BODY}\n`, "line break"],
  ["trimmed it", `${BODY}\n`, BODY, "something trimmed it"],
  ["made its line breaks CRLF", pretty, pretty.replaceAll("\n", "\r\n"), "CRLF"],
])("tells that something has %s", (_, sent, arrived, sentence) => {
  expect(reason({ header: signed(sent), body: arrived })).toContain(sentence)
})

it("reports when no secret matches", () => {
  expect(reason({ secrets: ["another"] })).toContain("The secret did not make this signature")
  expect(reason({ secrets: ["another", "a third"] })).toContain("None of the secrets")
})
it("never shows a secret or a body, and never throws", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.constant(signed())), fc.uint8Array(), (header, body) => {
      const { lines } = explain({ header, body, secrets: [SECRET], receivedAt: NOW })
      expect(lines.join(" ")).not.toContain(SECRET)
      expect(lines.length).toBeGreaterThan(0)
    }),
  )
})
