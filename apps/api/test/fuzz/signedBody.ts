import { eventExamples } from "@outreach/contract"
import fc from "fast-check"
import type { JsonSchema } from "../../src/docs/schemaFields.ts"
import { arbitraryOf } from "./arbitraryOf.ts"
import { slips } from "./slips.ts"

/** Creates the arbitrary of signed bodies: valid events, almost valid ones, and other bytes. */
export const signedBody = (schema: JsonSchema): fc.Arbitrary<Uint8Array> => {
  const event = arbitraryOf(schema).map((value) => JSON.stringify(value))
  const text = fc.oneof(
    { weight: 2, arbitrary: event },
    { weight: 6, arbitrary: bentEvent },
    { weight: 2, arbitrary: fc.oneof(event, bentEvent).chain(slips) },
    { weight: 1, arbitrary: fc.oneof(oddJson, fc.json(), fc.string({ unit: "binary" })) },
  )
  const bytes = text.map((text) => Buffer.from(text))
  return fc.oneof(
    { weight: 6, arbitrary: bytes },
    { weight: 2, arbitrary: fc.tuple(bytes, fc.nat(), oddBytes).map(([bytes, at, odd]) => spliced(bytes, at, odd)) },
    { weight: 1, arbitrary: text.map((text) => Buffer.from(text, "utf16le")) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
  )
}

/** Nesting depth of an unusual value, far beyond the limit of a recursive parser. */
const DEPTH = 50_000

const PROTOTYPE_KEYS = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "then"]

/** Unusual JSON, and text that only resembles JSON. */
const oddJson = fc.oneof(
  fc.constantFrom(
    ..."null true 0 -0 -1 1.0 1e0 1e400 -1e400 1e-400 9007199254740993 4294967297 [] {} [[]]".split(" "),
    ..."NaN Infinity undefined 01 +1 .5 1. 0x1 'a' [1,] {,} {a:1} /**/1 1//".split(" "),
    ...['""', '" "', '"\\u0000"', '"\\ud800"', '"\\udc00\\ud800"', '"\\x41"', '"\u0000"', '"\t"'],
    '"\u2028\ufeff\uffff"',
    `"${"x".repeat(70_000)}"`,
    `"evt_${"0".repeat(252)}"`,
    "1".repeat(5000),
    `0.${"1".repeat(5000)}`,
    ...['{"npi":1234567893}', '{"npi":"1234567893\\u0000"}', '{"npi":"1234567893","npi":["1234567893"]}'],
    ...['{"__proto__":{"npi":"1234567893"}}', '{"constructor":{"prototype":{"npi":"1234567893"}}}', '{"":null}'],
    '{"\\u0000":"\\u0000"}',
    "[".repeat(DEPTH) + "]".repeat(DEPTH),
    `${'{"a":'.repeat(DEPTH)}1${"}".repeat(DEPTH)}`,
    "[".repeat(DEPTH),
    `{${Array.from({ length: 2000 }, (_, i) => `"${i}":${i}`).join(",")}}`,
  ),
  fc.json(),
  fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
)

type Member = readonly [name: string, json: string]
const members = Object.entries(eventExamples["clinician.account_created"]).map(
  ([name, value]): Member => [name, JSON.stringify(value)],
)
const names = fc.constantFrom(...members.map(([name]) => name), ...PROTOTYPE_KEYS)

const bend = fc.oneof(
  fc.tuple(names, oddJson).map(
    ([name, json]) =>
      (all: ReadonlyArray<Member>) =>
        all.map((it): Member => (it[0] === name ? [name, json] : it)),
  ),
  fc.tuple(names, oddJson, fc.nat(members.length)).map(
    ([name, json, at]) =>
      (all: ReadonlyArray<Member>) =>
        all.toSpliced(at, 0, [name, json]),
  ),
  fc.nat(members.length).map((at) => (all: ReadonlyArray<Member>) => all.toSpliced(at, 1)),
)

/** An event with members removed, repeated, unusual, or named like an object's built-in properties. */
const bentEvent = fc
  .tuple(fc.array(bend, { maxLength: 3 }), fc.constantFrom("", " ", "\n\t", "\u00a0"))
  .map(([bends, space]) =>
    bends
      .reduce((all, bend) => bend(all), members)
      .map(([name, json]) => `${space}"${name}":${space}${json}`)
      .join(","),
  )
  .map((text) => `{${text}}`)

/** Invalid UTF-8, or characters that JSON can't contain: NUL, surrogates, an overlong slash, a code point out of range, byte order marks. */
const oddBytes = fc.oneof(
  fc.constantFrom(
    [0x00],
    [0xff],
    [0xed, 0xa0, 0x80],
    [0xc0, 0xaf],
    [0xf4, 0x90, 0x80, 0x80],
    [0xef, 0xbb, 0xbf],
    [0xff, 0xfe],
  ),
  fc.array(fc.nat(255), { minLength: 1, maxLength: 3 }),
)

// A third are at the start, like a byte order mark.
const spliced = (bytes: Uint8Array, at: number, odd: ReadonlyArray<number>): Uint8Array => {
  const place = at % 3 === 0 ? 0 : at % (bytes.length + 1)
  return Buffer.concat([bytes.subarray(0, place), Uint8Array.from(odd), bytes.subarray(place)])
}
