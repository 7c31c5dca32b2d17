import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type WebhookRequest, WebhookVerificationError } from "../src/index.ts"
import { bothEntries } from "./bothEntries.ts"
import { BODY, NOW, SECRET, signed } from "./signed.ts"

/** How many malformed inputs each entry is given; `pnpm prove:malformed` gives a million in all. */
const INPUTS = Number(process.env["MALFORMED_INPUTS"] ?? 20_000) / 2
/**
 * How much more a header of 16 KB may cost than a good one. Five times is promised, and holds on a quiet machine; a busy one gets more, and a
 * parser that went back and forth would need a thousand times as much.
 */
const MAX_RATIO = process.env["MALFORMED_INPUTS"] === undefined ? 100 : 5
const VALID = signed()
const HEX = VALID.slice(-64)

const piece = fc.constantFrom(
  "t",
  "v1",
  "v0",
  "=",
  ",",
  " ",
  "\n",
  "\0",
  String(NOW),
  HEX,
  HEX.toUpperCase(),
  "0",
  "-1",
  "1e9",
  "٣",
  "\ud800",
  "é",
)
const header = fc.oneof(
  fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join("")),
  fc.string({ unit: "binary", maxLength: 200 }),
  // A good header with one character changed, lost or added.
  fc
    .tuple(fc.nat(VALID.length), fc.nat(1), fc.string({ unit: "binary", maxLength: 2 }))
    .map(([at, gone, come]) => VALID.slice(0, at) + come + VALID.slice(at + gone)),
  fc.tuple(piece, fc.integer({ min: 1, max: 4000 })).map(([it, times]) => it.repeat(times)),
  fc.array(fc.string({ maxLength: 20 })),
  fc.constantFrom(null, undefined, 0, true, {}, [], [VALID, VALID]),
)
const body = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.uint8Array({ maxLength: 200 }),
  fc.json(),
  fc.object(),
  fc.constantFrom(
    null,
    undefined,
    0,
    new ArrayBuffer(3),
    new DataView(new ArrayBuffer(3)),
    new Uint16Array(3),
    "\ud800",
  ),
)

describe.each(bothEntries)(
  "the verifier $entry",
  ({ createWebhookVerifier }) => {
    const verifier = createWebhookVerifier({ secrets: [SECRET, "another"], now: () => NOW })

    it("answers every malformed header and body with its one error class, and a code that it documents", async () => {
      const codes = new Set<string>()
      const begun = Date.now()
      const refuse = async (request: unknown) => {
        const error = await verifier.verify(request as WebhookRequest).then(
          () => "accepted",
          (thrown: unknown) => thrown,
        )
        if (!(error instanceof WebhookVerificationError) || error.cause !== undefined)
          throw new Error(`answered ${error}`)
        codes.add(error.code)
      }
      await fc.assert(
        fc.asyncProperty(header, body, async (value, content) => {
          await refuse({ headers: { "x-signature": value === VALID ? "" : value }, body: BODY })
          // Signed when it can be, so that what comes after the signature is reached as well.
          const text = typeof content === "string" && !/\p{Surrogate}/u.test(content) ? signed(content) : VALID
          await refuse({ headers: { "x-signature": text }, body: content })
        }),
        { numRuns: INPUTS / 2 },
      )
      // Measured 0.06 ms with the making of the input; a parser that went back and forth would take seconds.
      expect((Date.now() - begun) / INPUTS).toBeLessThan(100)
      expect([...codes].sort()).toEqual([
        "body_already_parsed",
        "invalid_json",
        "malformed_body",
        "malformed_header",
        "missing_header",
        "no_match",
        "not_an_event",
        "timestamp_out_of_tolerance",
      ])
    })

    it("spends on a header of 16 KB little more than on a good one", async () => {
      const long = (unit: string) => unit.repeat(Math.ceil(16_384 / unit.length)).slice(0, 16_384)
      const costly = [",", "=", "t=1,", "a=", `v1=${HEX},`, `t=${NOW},v1=${HEX},`, "t=1", " ", "é"]
        .map(long)
        .concat(VALID + long(",x=1"), `t=${long("1")},v1=${HEX}`)
      const time = async (value: string) => {
        const begun = process.hrtime.bigint()
        for (let i = 0; i < 300; i++)
          await verifier.verify({ headers: { "x-signature": value }, body: BODY }).catch(() => {})
        return Number(process.hrtime.bigint() - begun) / 300_000
      }
      // The least of alternated rounds: whatever else the machine does only adds.
      const least = async (value: string) => {
        const [good, bad]: number[][] = [[], []]
        for (let round = 0; round < 12; round++) {
          good!.push(await time(VALID))
          bad!.push(await time(value))
        }
        return Math.min(...bad!) / Math.min(...good!)
      }
      const ratios: number[] = []
      for (const value of costly) ratios.push(await least(value))
      if (process.env["MALFORMED_INPUTS"]) console.log(ratios.map((it) => it.toFixed(2)).join(" "))
      // Measured 0.1 and 1.3 on a quiet machine; a parser that went back and forth would take hundreds of times as long.
      for (const ratio of ratios) expect(ratio).toBeLessThan(MAX_RATIO)
    })
  },
  1_800_000,
)
