import { readdirSync, readFileSync } from "node:fs"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { parseReturned, readExcerpt } from "../../src/returned/parseReturned.ts"
import { type Returned, readReturned } from "../../src/returned/readReturned.ts"
import { RETURNED_FORMS } from "../../src/returned/returnedForms.ts"

const FOLDER = new URL("../bounces/", import.meta.url)
const samples = readdirSync(FOLDER).map((file) => readFileSync(new URL(file, FOLDER)))

const read = async (raw: Uint8Array): Promise<Returned | undefined> => {
  const message = await parseReturned((await readExcerpt([raw]))!)
  return message && readReturned(message)
}

/** Checks the invariants of every reading. */
const check = (returned: Returned | undefined) => {
  if (returned === undefined) return
  expect(returned.localParts.length).toBeLessThanOrEqual(3)
  for (const localPart of returned.localParts) expect(localPart.length).toBeLessThan(65)
  if (returned.kind !== "bounce") return
  const { verdict, sureness } = returned
  // A guess suppresses no address and pauses no domain.
  if (sureness === "guess") expect(verdict).toMatchObject({ _tag: "Bounced", reason: "other" })
  expect((verdict.reply ?? "").length).toBeLessThanOrEqual(2000)
}

const anySample = fc.constantFrom(...samples)

describe("a sample that is changed", () => {
  it("is read without a failure, cut off, doubled or with any bytes in it", async () => {
    const broken = fc
      .record({
        sample: anySample,
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        cut: fc.nat(400),
        put: fc.oneof(
          fc.uint8Array({ maxLength: 60 }),
          fc
            .constantFrom("\r\n\r\n", "--b1\r\n", "--b1--\r\n", "\0", "=?utf-8?q?", "Action: failed\r\n", "<", "5.1.1 ")
            .map((text) => Buffer.from(text)),
          anySample,
        ),
      })
      .map(({ sample, at, cut, put }) => {
        const place = Math.floor(at * sample.length)
        return Buffer.concat([sample.subarray(0, place), put, sample.subarray(place + cut)])
      })
    await fc.assert(fc.asyncProperty(broken, async (raw) => check(await read(raw))))
    await fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (raw) => check(await read(raw))))
  })

  it.each([
    ["line ends of its own", (text: string) => text.replaceAll("\n", "\r\n")],
    ["no line end at its end", (text: string) => text.trimEnd()],
    [
      "fields in capitals",
      (text: string) => text.replace(/^(From|To|Subject|Content-Type):/gm, (it) => it.toUpperCase()),
    ],
  ])("by %s is read the same", async (_, change) => {
    for (const sample of samples) {
      const changed = await read(Buffer.from(change(sample.toString())))
      const { verdict: _, ...rest } = { verdict: undefined, ...(await read(sample)) }
      expect(changed).toMatchObject(rest)
    }
  })

  it("by a gateway that leaves one text of a report's parts is read the same, and is less sure", async () => {
    const reports = samples.filter((sample) =>
      /^Content-Type: message\/delivery-status\n\n.*Recipient:/ms.test(`${sample}`),
    )
    expect(reports.length).toBeGreaterThan(25)
    for (const sample of reports) {
      const whole = await read(sample)
      const flat = await read(Buffer.from(sample.toString().replace(/^Content-Type: multipart.*$/m, "")))
      expect(flat).toMatchObject({ kind: whole?.kind, sureness: expect.stringMatching(/likely|guess/) })
      if (flat?.kind === "bounce" && flat.sureness === "likely")
        expect(flat).toHaveProperty("verdict", whole!["verdict" as never])
    }
  })

  it("by quoting it in a reply is not a bounce", async () => {
    for (const sample of samples) {
      const quoted = sample.toString().replaceAll(/^/gm, "> ")
      const reply = `From: Pat Doe <pat@clinic.example>\nSubject: Re: your mail\n\nWhat is this?\n\n${quoted}`
      expect(await read(Buffer.from(reply))).toMatchObject({ kind: "message" })
    }
  })
})

describe("a message without end", () => {
  const [sample] = samples.filter((each) => each.includes("The following address(es) failed")).map(String)
  const nested = Array.from({ length: 50_000 }, (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\n\n--b${i}\n`)
  it.each([
    ["parts within parts", nested.join("")],
    ["messages within messages", "Content-Type: message/rfc822\n\n".repeat(100_000)],
    ["header fields", `${"A: b\n".repeat(100_000)}\n`],
    ["a folded header", `Content-Type: multipart/report${";\n x=y".repeat(100_000)}\n\n`],
    ["recipients", sample!.replace("  x@clinic.example", "  x@clinic.example\n".repeat(200_000))],
    ["codes", sample!.replace("  x@clinic.example", `  x@clinic.example ${"550 5.1.1 ".repeat(200_000)}`)],
    ["a reason", sample!.replace("  x@clinic.example", `  x@clinic.example\n ${"x".repeat(2_000_000)}`)],
    ["an address", sample!.replace("  x@clinic.example", `  ${"x@".repeat(1_000_000)}`)],
    ["blanks", sample!.replace("  x@clinic.example", " ".repeat(2_000_000))],
    ["line ends", sample!.replace("  x@clinic.example", "\n \t".repeat(700_000))],
    ["seals", sample!.replace("  x@clinic.example", "bounce-0a".repeat(200_000))],
    ["a subject", `From: mailer-daemon@x.example\nSubject: ${"delivery mail ".repeat(18_000)}\n\n`],
    ["tags", `From: mailer-daemon@x.example\nContent-Type: text/html\n\n${"<p ".repeat(700_000)}`],
    ["entities", `From: mailer-daemon@x.example\nContent-Type: text/html\n\n${"&lt".repeat(700_000)}`],
  ])("of %s is read", async (_, text) => {
    check(await read(Buffer.from(text)))
  })

  it("has no pattern that repeats a repetition", () => {
    for (const { name, head = {} } of RETURNED_FORMS) {
      for (const { source } of Object.values(head)) {
        expect({ name, source }).not.toMatchObject({ source: expect.stringMatching(/[*+}]\)[*+{]/) })
      }
    }
  })
})

describe("readExcerpt", () => {
  const chunksOf = async function* (bytes: Uint8Array, sizes: ReadonlyArray<number>) {
    let start = 0
    for (let i = 0; start < bytes.length; i++) {
      const size = sizes[i % sizes.length]!
      yield bytes.subarray(start, start + size)
      start += size
    }
  }
  const chunkSizes = fc.array(fc.integer({ min: 500, max: 70_000 }), { minLength: 1, maxLength: 5 })

  it("keeps a short message as it is, and of a long one its beginning and its end", async () => {
    const property = fc.asyncProperty(fc.nat(400_000), chunkSizes, async (length, sizes) => {
      const bytes = Uint8Array.from({ length }, (_, i) => i % 251)
      const kept = (await readExcerpt(chunksOf(bytes, sizes)))!
      expect(kept.length).toBeLessThan(170_000)
      if (length <= 131_072) expect(Buffer.compare(kept, bytes)).toBe(0)
      expect(Buffer.compare(kept.subarray(0, 98_304), bytes.subarray(0, 98_304))).toBe(0)
      expect(Buffer.compare(kept.subarray(-32_768), bytes.subarray(-32_768))).toBe(0)
    })
    await fc.assert(property)
  })

  it("keeps the fields of a report after the returned message", async () => {
    const text = readFileSync(new URL("rfc3464-returned-first.eml", FOLDER), "utf8")
    const long = Buffer.from(text.replace("Good morning", "Good morning\n".repeat(50_000)))
    expect(await read(long)).toMatchObject({ kind: "bounce", sureness: "certain", status: "5.1.1" })
  })
})
