import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { failureLine } from "../../src/deliveries/failureLine.ts"

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
  ["\ue000503 of id \ue000505", "# of id #"],
  ["Service unavailable", "Service unavailable"],
  ["email=jane%2540clinic.example&x", "email=[e-mail]"],
  ["mail to jane&#64;clinic.example or jo&#X40;clinic.example", "mail to [e-mail] or [e-mail]"],
  ["jane\uff20clinic.example is unknown", "[e-mail] is unknown"],
  ["npi \uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19\uff13", "npi #"],
  ["<script>var address = 1", null],
  ["<SCRIPT>1</SCRIPT ><b>Bad &lt;input", "Bad &lt;input"],
  ["half a \ud83d pair", "half a pair"],
  ["x ".repeat(300), `${"x ".repeat(80).trim()}`],
]

describe("failureLine", () => {
  it.each(table)("reduces %j to the failure, without variable or personal parts: %j", (response, line) => {
    expect(failureLine(response)).toBe(line)
  })

  it("is the same for responses that differ only in a number, unless the number is a status", () => {
    const text = fc.stringMatching(/^[a-z]{2,9}$/).filter((word) => !/(status|http|code|error)$/.test(word))
    const between = fc.constantFrom(" ", "=", ": ", " #", ":", " (")
    const number = fc.integer({ min: 0, max: 99_999 })
    const status = fc.integer({ min: 100, max: 599 })
    const named = fc.constantFrom("status", "HTTP", "code", "Status Code:", "http_status=", "statusCode=", "error code")
    fc.assert(
      fc.property(text, between, number, number, named, status, (word, sign, one, other, name, code) => {
        const line = failureLine(`${word}${sign}${one} failed`)!
        expect(failureLine(`${word}${sign}${other} failed`)).toBe(line)
        expect(line).not.toMatch(/\d/)
        expect(line).toContain(word)
        expect(failureLine(`${name} ${code} after ${other}`)).toBe(`${name} ${code} after #`)
      }),
    )
  })

  it("never ends with the half of an address that a cut left", () => {
    // The text before it is masked: 240 and 1,000 characters of a response are only a few of the line.
    const ids = (length: number) => "1234567890 ".repeat(100).slice(0, length)
    const address = "jane.doe@clinic.example"
    for (let back = 0; back < address.length + 4; back++) {
      for (const response of [
        `${ids(240 - back)} ${address} was refused`,
        `<p>${" ".repeat(1000 - 3 - back)}${address} was refused</p>`,
        `<p>${" ".repeat(1000 - 3 - back)}jane{doe}@clinic.example was refused</p>`,
      ]) {
        expect(failureLine(response) ?? "").not.toMatch(/jane|clinic|example/)
      }
    }
  })

  it("never repeats an address or an NPI, in any surrounding text", () => {
    const around = fc.string({ unit: "grapheme", maxLength: 30 })
    const word = fc.stringMatching(/^[a-z]{3,8}$/)
    const npi = fc.stringMatching(/^[12][0-9]{9}$/)
    const at = fc.constantFrom("@", "%40", "%2540", "\\u0040", "&#64;", "&commat;", "\uff20")
    fc.assert(
      fc.property(around, word, at, word, npi, around, (before, name, sign, host, number, after) => {
        const line = failureLine(`${before} ${name}${sign}${host}.example ${after} ${number}`) ?? ""
        expect(line).not.toContain(`${name}${sign}${host}`)
        expect(line).not.toContain(`${host}.example`)
        expect(line).not.toContain(number)
        expect(line).not.toMatch(/\d{6}/)
      }),
    )
  })

  it("is one line of at most 160 whole characters for any response", () => {
    const part = fc.constantFrom(
      ...["<", ">", "<script>", "</script", "{", "@", "\n", "\u0001", "\ud83d", "\ude00", "status ", "503"],
      "\ue000",
    )
    const response = fc.array(fc.oneof(part, fc.string({ unit: "binary" })), { maxLength: 60 })
    fc.assert(
      fc.property(response, (parts) => {
        const line = failureLine(parts.join(""))
        if (line === null) return
        expect([...line].length).toBeLessThanOrEqual(160)
        expect(line).not.toBe("")
        expect(line.trim()).toBe(line)
        expect(line).not.toMatch(/[\p{Cc}\p{Cs}]/u)
      }),
    )
  })

  it("is read within a moment of responses that are made to keep patterns searching", () => {
    const hard = [
      ...["<", "<script", "</script", "a", "a-", "A", "%", "@", "a@", "&#0", "code ", "http", "1", "(", '"', "{"],
      ...["\ue000", " "],
    ]
    for (const one of hard) {
      for (const other of hard) {
        failureLine(`${one.repeat(500)}${other.repeat(5000)}`)
      }
    }
  })
})
