import fc from "fast-check"
import type { JsonSchema } from "../../src/docs/schemaFields.ts"
import { arbitraryOf } from "./arbitraryOf.ts"
import { complaintAbout } from "./complaintAbout.ts"
import { resolve } from "./document.ts"

/** Creates the arbitrary of texts that a schema rejects: almost valid, unusual, or random. */
export const refusedBy = (schema: JsonSchema): fc.Arbitrary<string> => {
  const { type, minimum, maximum } = resolve(schema)
  const near =
    type === "integer"
      ? fc.constantFrom(
          ...[minimum, maximum].flatMap((bound, i) => (bound === undefined ? [] : String(bound + 2 * i - 1))),
        )
      : arbitraryOf(schema).chain((text) => slips(String(text)))
  const read = (text: string) => (type === "integer" && /^-?\d+$/.test(text) ? Number(text) : text)
  return fc
    .oneof(
      // Off-by-one values are the most likely faults of a rule.
      { weight: 3, arbitrary: near },
      { weight: 1, arbitrary: fc.constantFrom(...ODDITIES) },
      { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 12 }) },
    )
    .filter((text) => complaintAbout(schema, read(text)) !== undefined)
}

/** Creates the arbitrary of similar texts: one character removed, added or replaced. */
export const slips = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(fc.nat(text.length), fc.nat(1), fc.oneof(fc.constantFrom("", ..." 0:+-\n\0é%"), fc.string({ maxLength: 1 })))
    .map(([at, cut, put]) => text.slice(0, at) + put + text.slice(at + cut))
    .filter((slipped) => slipped !== text)

const ODDITIES = [
  "",
  "null",
  "undefined",
  "NaN",
  "true",
  "[]",
  "{}",
  "0",
  "-1",
  "9007199254740993",
  "__proto__",
  "toString",
]
