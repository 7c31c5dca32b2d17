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
  ["<html><head><title>502 Bad Gateway</title></head>\n<body>nginx</body></html>", "502 Bad Gateway"],
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
  ["request 3f2504e0-4f89-11d3-9a0c-0305e82c3301 failed after 132 ms", "request # failed after 132 ms"],
  ["2026-11-23T07:44:22Z refused", "#:#:#Z refused"],
  ["took 98 ms", "took # ms"],
  ["gone\u001b[2J", "gone [#J"],
  ["status 503", "status 503"],
  ["Service unavailable", "Service unavailable"],
  ["x ".repeat(300), `${"x ".repeat(80).trim()}`],
]

describe("failure_line", () => {
  test("keeps what a failure says, and nothing that differs or is personal", function* () {
    expect(yield* linesOf(table.map(([response]) => response))).toEqual(table.map(([, line]) => line))
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
