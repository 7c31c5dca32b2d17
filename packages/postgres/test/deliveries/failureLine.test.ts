import { describe, expect } from "@effect/vitest"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import fc from "fast-check"

const run = runOnDatabase()
const test = effectTest(run)

const linesOf = Effect.fnUntraced(function* (responses: ReadonlyArray<string | null>) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ line: string | null }>`
    select failure_line(response) as line from unnest(${responses}::text[]) with ordinality as given (response, n) order by n`
  return rows.map(({ line }) => line)
})

const table: ReadonlyArray<[response: string | null, line: string | null]> = [
  [null, null],
  ["", null],
  [" \n\t", null],
  ["Internal Server Error\nat line 7", "Internal Server Error"],
  ["\r\n  Bad\tgateway  \r\nmore", "Bad gateway"],
  ["<html><head><title>502 Bad Gateway</title></head>\n<body>nginx</body></html>", "# Bad Gateway"],
  ["<!doctype html><style>a { color: red }</style><script>var x = 1</script><h1>Oops</h1>", "Oops"],
  ['{\n  "error": "signature expired"\n}', '{ "error": "signature expired" }'],
  ["<!-- nothing -->", null],
  ["unknown clinician jane.doe+x@clinic.example", "unknown clinician [e-mail]"],
  ["email=jane%40clinic.example", "email=[e-mail]"],
  [String.raw`{"email":"jane\u0040clinic.example"}`, '{"email":"[e-mail]"}'],
  ["npi 1234567893 is not ours", "npi # is not ours"],
  ['{"npi":1234567893}', '{"npi":#}'],
  ["no recipient aB3dE9", "no recipient #"],
  ["no recipient aBcDeF", "no recipient #"],
  ["request 3f2504e0-4f89-11d3-9a0c-0305e82c3301 failed after 132 ms", "request # failed after # ms"],
  ["2026-11-23T07:44:22Z refused", "#:#:#Z refused"],
  ["took 98 ms", "took # ms"],
  ["gone\u001b[2J", "gone [#J"],
  ["status 503", "status 503"],
  ["HTTP/1.1 503 upstream", "HTTP/#.# 503 upstream"],
  ["upstream said HTTP 502", "upstream said HTTP 502"],
  ["Request failed with status code 404", "Request failed with status code 404"],
  ['{"statusCode":503,"id":505}', '{"statusCode":503,"id":#}'],
  ['{"code": "422", "row": 422}', '{"code": "422", "row": #}'],
  ["http_status=500", "http_status=500"],
  ["Status was 429 (try 3)", "Status was 429 (try #)"],
  ["could not decode 505 bytes", "could not decode # bytes"],
  ["id=505", "id=#"],
  ["id=510", "id=#"],
  ["order 404 in line 200", "order # in line #"],
  ["status 600, status 099, code 1234, code 999", "status #, status #, code #, code #"],
  ["code 123-456-7890", "code #"],
  ["code 503.25", "code #.#"],
  ["\u0001503 of id \u0001505", "# of id #"],
  ["Service unavailable", "Service unavailable"],
  ["x ".repeat(300), `${"x ".repeat(80).trim()}`],
]

describe("failure_line", () => {
  test("keeps what a failure says, and nothing that differs or is personal", function* () {
    expect(yield* linesOf(table.map(([response]) => response))).toEqual(table.map(([, line]) => line))
  })

  test("is one line for responses that differ in a number alone, unless it is a status", function* () {
    const text = fc.stringMatching(/^[a-z]{2,9}$/).filter((word) => !/(status|http|code|error)$/.test(word))
    const between = fc.constantFrom(" ", "=", ": ", " #", ":", " (")
    const number = fc.integer({ min: 0, max: 99_999 })
    const status = fc.integer({ min: 100, max: 599 })
    const named = fc.constantFrom("status", "HTTP", "code", "Status Code:", "http_status=", "statusCode=", "error code")
    const cases = fc.sample(fc.tuple(text, between, number, number, named, status, number), 500)
    const masked = yield* linesOf(
      cases.flatMap(([word, sign, one, other]) => [`${word}${sign}${one} failed`, `${word}${sign}${other} failed`]),
    )
    for (const [i, [word]] of cases.entries()) {
      expect(masked[2 * i]).toBe(masked[2 * i + 1])
      expect(masked[2 * i]).not.toMatch(/\d/)
      expect(masked[2 * i]).toContain(word)
    }
    const kept = yield* linesOf(cases.map(([, , , , name, code, other]) => `${name} ${code} after ${other}`))
    expect(kept).toEqual(cases.map(([, , , , name, code]) => `${name} ${code} after #`))
  })

  test("never ends with the half of an address that a cut left", function* () {
    // What stands before it is masked: 240 and 1,000 characters of a response are few of the line.
    const ids = (length: number) => "1234567890 ".repeat(100).slice(0, length)
    const address = "jane.doe@clinic.example"
    const starts = Array.from({ length: address.length + 4 }, (_, back) => back)
    const responses = starts.flatMap((back) => [
      `${ids(240 - back)} ${address} was refused`,
      `<p>${" ".repeat(1000 - 3 - back)}${address} was refused</p>`,
      `<p>${" ".repeat(1000 - 3 - back)}jane{doe}@clinic.example was refused</p>`,
    ])
    for (const line of yield* linesOf(responses)) expect(line ?? "").not.toMatch(/jane|clinic|example/)
  })

  test("never repeats an address or an NPI, whatever stands around it", function* () {
    const around = fc.string({ unit: "grapheme-ascii", maxLength: 30 })
    const word = fc.stringMatching(/^[a-z]{3,8}$/)
    const npi = fc.stringMatching(/^[12][0-9]{9}$/)
    const cases = fc.sample(fc.tuple(around, word, word, npi, around), 500)
    const lines = yield* linesOf(
      cases.map(([a, name, host, number, b]) => `${a} ${name}@${host}.example ${b} ${number}`),
    )
    for (const [i, line] of lines.entries()) {
      const [, name, host, number] = cases[i]!
      expect(line ?? "").not.toContain(`${name}@${host}`)
      expect(line ?? "").not.toContain(number)
      expect(line ?? "").not.toMatch(/\d{6}/)
    }
  })
})
