import { runInNewContext } from "node:vm"
import { eventExamples } from "@outreach/contract"
import fc from "fast-check"
import { describe, expect, it, vi } from "vitest"
import type { EventSchema, WebhookRequest, WebhookVerifier } from "../src/index.ts"
import { WebhookVerificationError } from "../src/index.ts"
import { bothEntries } from "./bothEntries.ts"
import { BODY, NOW, SECRET, signed } from "./signed.ts"

const event = eventExamples["outreach.email_sent"]
const bytes = new TextEncoder().encode(BODY)

describe.each(bothEntries)("createWebhookVerifier $entry", ({ createWebhookVerifier }) => {
  const verifier = createWebhookVerifier({ secrets: [SECRET], now: () => NOW })
  const given = (body: unknown, headers: unknown = { "x-signature": signed() }) => ({ headers, body }) as WebhookRequest
  /** A Fetch request with the signature of `BODY`. */
  const posted = (body: string | ReadableStream) =>
    new Request("https://a.test", {
      ...{ method: "POST", body, duplex: "half" },
      headers: { "x-signature": signed() },
    } as RequestInit)
  const refusal = (request: unknown, code: string, { verify }: WebhookVerifier<unknown> = verifier) =>
    expect(verify(request as WebhookRequest)).rejects.toMatchObject({ name: "WebhookVerificationError", code })

  describe("headers", () => {
    it.each([
      ["Fetch Headers", new Headers({ "X-Signature": signed() })],
      ["Node's object", { host: "x", "x-signature": signed() }],
      ["an object in another case", { "X-SIGNATURE": signed() }],
      ["an object of arrays", { "X-Signature": [signed()] }],
      ["an object with absent values", { a: undefined, "x-signature": signed() }],
      ["pairs", [["Host", "x"] as const, ["X-Signature", signed()] as const]],
      ["Node's rawHeaders", ["Host", "x", "X-Signature", signed()]],
      ["lower-case keys of a Map", new Map([["x-signature", signed()]])],
    ])("takes the signature from %s", async (_, headers) => {
      expect(await verifier.verify(given(BODY, headers))).toEqual(event)
    })
    it("finds none where there is none", async () => {
      for (const headers of [new Headers({ host: "x" }), ["Host", "x-signature"], { "x-signatures": signed() }]) {
        await refusal(given(BODY, headers), "missing_header")
      }
    })
    it("lets no second header shadow the first", async () => {
      const twice = new Headers([
        ["x-signature", signed()],
        ["x-signature", signed()],
      ])
      for (const headers of [
        twice,
        { "x-signature": signed(), "X-Signature": signed() },
        { "x-signature": [signed(), "v1"] },
      ]) {
        await refusal(given(BODY, headers), "malformed_header")
      }
    })
    it("returns 500 when it is called wrongly, and explains how to call it", async () => {
      const trap = new Proxy({}, { get: () => { throw new Error("trap") } }) // biome-ignore format: one line
      // Every request has headers: `headers()` of Next.js is a promise, and Stripe's libraries accept only the header.
      const headless = [null, trap, [Symbol("x"), "y"], {}, [], new Headers(), Promise.resolve(new Headers()), signed()]
      const calls = [
        ...headless.map((headers) => [given(BODY, headers)]),
        ...[null, undefined, 1, {}, { body: BODY }, event].map((request) => [request]),
        ...[BODY, bytes, event].map((body) => [body, signed(), SECRET]),
      ]
      for (const call of calls) {
        await expect(verifier.verify(...(call as Parameters<typeof verifier.verify>))).rejects.toMatchObject({
          code: "not_a_request",
          status: 500,
          message: expect.stringContaining("Call verify({ headers, body }) with all headers as they came"),
        })
      }
    })
  })

  describe("body", () => {
    it.each([
      ["text", BODY],
      ["bytes", bytes],
      ["a Buffer out of a pool", Buffer.from(`xx${BODY}`).subarray(2)],
      ["an ArrayBuffer", bytes.slice().buffer],
      ["bytes of another realm", runInNewContext("Uint8Array.from(it)", { it: [...bytes] })],
      ["an ArrayBuffer of another realm", runInNewContext("Uint8Array.from(it).buffer", { it: [...bytes] })],
    ])("takes %s", async (_, body) => {
      expect(await verifier.verify(given(body))).toEqual(event)
    })
    it("accepts a Fetch Request, and a raw body next to the parsed one", async () => {
      expect(await verifier.verify(posted(BODY))).toEqual(event)
      expect(await verifier.verify({ ...given(event), rawBody: bytes })).toEqual(event)
    })
    it("reports that the body was already parsed, and how to get the raw one", async () => {
      for (const parsed of [event, [1], Object.create(null), new Map()])
        await refusal(given(parsed), "body_already_parsed")
      const used = posted(BODY)
      await used.json()
      await refusal(used, "body_already_parsed")
      await expect(verifier.verify(given(event))).rejects.toThrow(
        'pass the raw body (rawBody: true, express.raw({ type: "*/*" }))',
      )
    })
    it("rejects a body that is neither bytes nor valid text", async () => {
      for (const wrong of [undefined, null, 1, true, "\ud800"]) await refusal(given(wrong), "malformed_body")
    })
    it("reports an interrupted body", async () => {
      const body = new ReadableStream({ pull: (stream) => stream.error(new Error("a secret of the network")) })
      await refusal(posted(body), "broken_body")
    })
    it("verifies bytes, so that bodies that decode alike do not pass for one another", async () => {
      const text = JSON.stringify({ ...event, metadata: { note: "\ufffd" } })
      const spoiled = new Uint8Array([
        ...Buffer.from(text.split("\ufffd")[0]!),
        0xff,
        ...Buffer.from(text.split("\ufffd")[1]!),
      ])
      expect(new TextDecoder().decode(spoiled)).toBe(text)
      await refusal(given(spoiled, { "x-signature": signed(text) }), "no_match")
      await refusal(given(spoiled, { "x-signature": signed(spoiled) }), "invalid_json")
    })
    it("returns the verified event, even if the caller's bytes change meanwhile", async () => {
      const mine = bytes.slice()
      const verifying = verifier.verify(given(mine))
      mine.fill(0x20)
      expect(await verifying).toEqual(event)
    })
    it("rejects a signed body that is not an event", async () => {
      const wrong = [
        null, 1, "text", [], {}, { ...event, object: "list" }, { ...event, livemode: "true" }, { ...event, event_id: "evt_X" },
        { ...event, event_id: ["evt_1"] }, { ...event, event_type: 1 }, { ...event, event_version: 0 }, { ...event, event_version: 1.5 },
        { ...event, occurred_at: null }, { ...event, data: null }, { ...event, data: [] }, { ...event, source: undefined },
      ] // biome-ignore format: a list
      for (const value of wrong) {
        const body = JSON.stringify(value)
        await refusal(given(body, { "x-signature": signed(body) }), "not_an_event")
      }
      for (const body of ["", "{", "[".repeat(100_000), "\ufeff\ufeff{}"]) {
        await refusal(given(body, { "x-signature": signed(body) }), "invalid_json")
      }
    })
  })

  describe("time", () => {
    const at = (timestamp: number) => given(BODY, { "x-signature": signed(BODY, { timestamp }) })
    it("measures a queued request from when it was received", async () => {
      const yesterday = NOW - 86_400
      await refusal(at(yesterday), "timestamp_out_of_tolerance")
      for (const receivedAt of [yesterday + 300, new Date((yesterday + 300) * 1000)]) {
        expect(await verifier.verify(at(yesterday), { receivedAt })).toEqual(event)
      }
      await expect(verifier.verify(at(yesterday), { receivedAt: yesterday + 301 })).rejects.toMatchObject({
        code: "timestamp_out_of_tolerance",
      })
    })
    it("takes a signature of this very second, and no other, with a tolerance of 0", async () => {
      for (const tolerance of [0, { past: 0, future: 0 }]) {
        const strict = createWebhookVerifier({ secrets: [SECRET], now: () => NOW, tolerance })
        expect(await strict.verify(at(NOW))).toEqual(event)
        expect(await strict.verify(at(NOW), { receivedAt: new Date(NOW * 1000 + 999) })).toEqual(event)
        for (const timestamp of [NOW - 1, NOW + 1]) {
          await refusal(at(timestamp), "timestamp_out_of_tolerance", strict)
        }
      }
      vi.useFakeTimers({ now: NOW * 1000 + 999 })
      try {
        expect(await createWebhookVerifier({ secrets: [SECRET], tolerance: 0 }).verify(at(NOW))).toEqual(event)
      } finally {
        vi.useRealTimers()
      }
    })
    it("rejects a tolerance that is not in seconds", () => {
      expect(() => createWebhookVerifier({ secrets: [SECRET], tolerance: 300_000 })).toThrow(
        expect.objectContaining({
          code: "invalid_options",
          message: expect.stringContaining("tolerance must be 0 to 3600 seconds, not milliseconds"),
        }),
      )
    })
  })

  describe("secrets", () => {
    it("accepts a signature by any of them", async () => {
      const both = createWebhookVerifier({ secrets: ["old", "new"], now: () => NOW })
      for (const secret of ["old", "new"]) {
        expect(await both.verify(given(BODY, { "x-signature": signed(BODY, { secrets: [secret] }) }))).toEqual(event)
      }
    })
    it.each([
      ["no_secrets", []],
      ["empty_secret", [""]],
      ["empty_secret", [SECRET, undefined]],
      ["too_many_secrets", Array(17).fill("s")],
      ["invalid_options", "whsec_alone"],
      ["invalid_options", undefined],
      ["invalid_options", [1]],
    ])("refuses at once with %s", (code, secrets) => {
      expect(() => createWebhookVerifier({ secrets: secrets as string[] })).toThrow(
        expect.objectContaining({ name: "WebhookVerificationError", code }),
      )
    })
    it("rejects an incorrectly stored secret, without repeating a valid one", () => {
      const issued = fc.constantFrom(SECRET, "whsec_ph8ibp8CgRz5bcuMZmw3vzZFeuiG3Lj7bZhyBgCVx8r", "päss wörd 🔑")
      const stored = fc.oneof(
        fc.tuple(issued, fc.constantFrom("\n", "\r\n", " ", "\t", '"', "'", ",")).map(([secret, end]) => secret + end),
        fc.tuple(issued, fc.constantFrom("\n", " ", "\ufeff", '"', "'", ",")).map(([secret, begin]) => begin + secret),
        fc.tuple(issued, fc.constantFrom('"', "'")).map(([secret, quote]) => quote + secret + quote),
        fc.tuple(issued, fc.constantFrom(",", ", ", "\n", "\r\n"), issued).map((parts) => parts.join("")),
      )
      fc.assert(
        fc.property(issued, stored, (good, bad) => {
          expect(() => createWebhookVerifier({ secrets: [good] })).not.toThrow()
          expect(() => createWebhookVerifier({ secrets: [good, bad] })).toThrow(
            expect.objectContaining({ code: "malformed_secret", message: expect.not.stringContaining(good) }),
          )
        }),
      )
    })
    it("keeps the secrets that it was made with", async () => {
      const secrets = [SECRET]
      const held = createWebhookVerifier({ secrets, now: () => NOW })
      secrets[0] = "another"
      expect(await held.verify(given(BODY))).toEqual(event)
    })
  })

  describe("errors", () => {
    const CLOCK = {
      code: "invalid_options",
      message: expect.stringContaining("now must be Unix seconds, not milliseconds"),
    }
    it.each([Date.now, () => NOW * 1000, () => Number.NaN, () => "noon", () => new Date(Number.NaN), async () => NOW])(
      "refuses at once to be made with the clock %s", (now) => {
        expect(() => createWebhookVerifier({ secrets: [SECRET], now: now as never })).toThrow(expect.objectContaining(CLOCK))
      },
    ) // biome-ignore format: a list
    it("rejects a clock that is not a function, or that fails on creation", () => {
      const failing = () => { throw new Error("no clock") } // biome-ignore format: one line
      for (const [now, sentence] of [
        ["noon", "now is not a function"],
        [NOW, "now is not a function"],
        [failing, "no clock"],
      ] as const) {
        expect(() => createWebhookVerifier({ secrets: [SECRET], now: now as never })).toThrow(
          expect.objectContaining({ code: "invalid_options", message: expect.stringContaining(sentence) }),
        )
      }
    })
    it("returns 500 if its clock fails later, or receivedAt is in milliseconds", async () => {
      let now = NOW
      const failing = createWebhookVerifier({ secrets: [SECRET], now: () => now })
      now *= 1000
      await expect(failing.verify(given(BODY))).rejects.toMatchObject({ ...CLOCK, status: 500 })
      for (const receivedAt of [NOW * 1000, new Date(Number.NaN), `${NOW}`]) {
        const verifying = verifier.verify(given(BODY), { receivedAt: receivedAt as number })
        await expect(verifying).rejects.toMatchObject({ ...CLOCK, status: 500 })
      }
    })
    it.each([
      ["secrets must be an array of strings", { secret: SECRET }],
      ["secrets must be an array of strings", SECRET],
      ["schema must be a Standard Schema", { secrets: [SECRET], schema: {} }],
      ["schema must be a Standard Schema", { secrets: [SECRET], schema: { "~standard": {} } }],
    ])("says that %s", (sentence, options) => {
      expect(() => createWebhookVerifier(options as never)).toThrow(
        expect.objectContaining({ code: "invalid_options", message: expect.stringContaining(sentence) }),
      )
    })
    it("returns 4xx for invalid requests, and 500 for the receiver's own errors", async () => {
      const statuses = {
        missing_header: 401, malformed_header: 401, timestamp_out_of_tolerance: 401, no_match: 401, invalid_json: 400, not_an_event: 400,
        body_too_large: 413, body_already_parsed: 500, malformed_body: 500, broken_body: 500, not_a_request: 500, empty_secret: 500,
        malformed_secret: 500, schema_mismatch: 500, invalid_options: 500,
      } as const // biome-ignore format: a table
      for (const [code, status] of Object.entries(statuses)) {
        expect({ code, status: new WebhookVerificationError(code as keyof typeof statuses).status }).toEqual({
          code,
          status,
        })
      }
    })
    it("keeps body, header and secret out of the error", async () => {
      const broken = `{"npi":"1234567893" ${BODY}`
      const header = signed(broken)
      const error = await verifier.verify(given(broken, { "x-signature": header })).catch((thrown: Error) => thrown)
      const shown = `${JSON.stringify(error)} ${Object.values(error)} ${(error as Error).stack} ${(error as Error).cause}`
      for (const kept of ["1234567893", header, SECRET]) expect(shown).not.toContain(kept)
    })
    it("only throws WebhookVerificationError, for any input", () =>
      fc.assert(
        fc.asyncProperty(
          fc.anything({ withBigInt: true, withDate: true, withTypedArray: true, withNullPrototype: true }),
          fc.anything(),
          fc.anything(),
          async (headers, body, options) => {
            for (const request of [
              { headers, body },
              { headers: { "x-signature": signed() }, body },
              { headers, body: BODY },
              body,
            ]) {
              const error = await verifier
                .verify(request as WebhookRequest, options as never)
                .catch((thrown: unknown) => thrown)
              expect(error).toBeInstanceOf(WebhookVerificationError)
            }
          },
        ),
      ))
  })

  describe("schema", () => {
    const checking = (validate: EventSchema<unknown>["~standard"]["validate"]) =>
      createWebhookVerifier({
        secrets: [SECRET],
        now: () => NOW,
        schema: { "~standard": { version: 1, vendor: "test", validate } },
      })
    it("returns the schema's output", async () => {
      const shaped = checking((value) => ({ value: (value as typeof event).event_id.length }))
      expect(await shaped.verify(given(BODY))).toBe(event.event_id.length)
    })
    it("returns 500 for a genuine event that the schema rejects, with the schema's issues and their paths", async () => {
      const refusing = {
        issues: [{ message: "too strict", path: ["data", { key: "token", value: "aB3xY9" }] }, { message: "no" }],
      }
      const error = await checking(async () => refusing)
        .verify(given(BODY))
        .catch((thrown: WebhookVerificationError) => thrown)
      expect(error).toMatchObject({
        code: "schema_mismatch",
        status: 500,
        message: expect.stringContaining("Your schema refuses a genuine event"),
        issues: [
          { message: "too strict", path: ["data", "token"] },
          { message: "no", path: [] },
        ],
        cause: refusing,
      })
      // A log that writes an error's members holds no value of the event.
      expect(JSON.stringify(error)).not.toContain("aB3xY9")
    })
    it("returns 500 if the schema throws, with the thrown error as the cause", async () => {
      const thrown = new Error("x")
      const failing = checking(() => {
        throw thrown
      })
      await expect(failing.verify(given(BODY))).rejects.toMatchObject({
        code: "schema_mismatch",
        status: 500,
        cause: thrown,
      })
    })
    it("is only called with events", async () => {
      const unasked = checking(() => expect.unreachable())
      await refusal(given("{}", { "x-signature": signed("{}") }), "not_an_event", unasked)
    })
  })
})
