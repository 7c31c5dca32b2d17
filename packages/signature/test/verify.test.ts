import { runInNewContext } from "node:vm"
import fc from "fast-check"
import { describe, expect, it, vi } from "vitest"
import { SignatureError } from "../src/index.ts"
import { bothEntries } from "./bothEntries.ts"

const now = 1_780_000_000
const body = '{"object":"event"}'
const secret = "whsec_4283fefc63f0cd0e873a0000c6d07ef7b77e90d3593ad699"
const zeros = "0".repeat(64)
const effs = "f".repeat(64)

describe.each(bothEntries)("verify of $entry", ({ readTolerance, sign, verify }) => {
  const signed = (timestamp: number) => sign(body, [secret], { timestamp })
  const refusal = (header: string | null | undefined, code: string) =>
    expect(verify(header, body, [secret], { now })).rejects.toMatchObject({ name: "SignatureError", code })

  describe("time", () => {
    it("accepts a timestamp exactly 300 s away in either direction, and rejects one 301 s away", async () => {
      for (const timestamp of [now - 300, now + 300]) {
        expect(await verify(await signed(timestamp), body, [secret], { now })).toMatchObject({ timestamp })
      }
      for (const timestamp of [now - 301, now + 301]) {
        await refusal(await signed(timestamp), "timestamp_out_of_tolerance")
      }
    })
    it("has separate tolerances for past and future, each 300 s by default", async () => {
      const within = async (age: number, tolerance: { past?: number; future?: number }) =>
        verify(await signed(now - age), body, [secret], { now, tolerance }).then(
          () => true,
          (error) => error.code,
        )
      expect(await within(3600, { past: 3600 })).toBe(true)
      expect(await within(3601, { past: 3600 })).toBe("timestamp_out_of_tolerance")
      expect(await within(-300, { past: 3600 })).toBe(true)
      expect(await within(-301, { past: 3600 })).toBe("timestamp_out_of_tolerance")
      expect(await within(-1, { future: 0 })).toBe("timestamp_out_of_tolerance")
      expect(await within(0, { past: 0, future: 0 })).toBe(true)
    })
    it("doesn't round fractions of a second", async () => {
      await expect(verify(await signed(now), body, [secret], { now: now + 300.001 })).rejects.toMatchObject({
        code: "timestamp_out_of_tolerance",
      })
    })
    it("throws a RangeError for a clock or a tolerance that is not in seconds", async () => {
      const header = await signed(now)
      for (const options of [{ now: Number.NaN }, { now: Number.POSITIVE_INFINITY }, { now: now * 1000 }]) {
        await expect(verify(header, body, [secret], options)).rejects.toThrow(RangeError)
      }
      await expect(verify(header, body, [secret], { now, tolerance: -1 })).rejects.toThrow(RangeError)
    })
  })

  it("tolerance is 300 s in each direction by default, and is rejected if invalid", () => {
    expect(readTolerance()).toEqual({ past: 300, future: 300 })
    expect(readTolerance(0)).toEqual({ past: 0, future: 0 })
    expect(readTolerance({ past: 3600 })).toEqual({ past: 3600, future: 300 })
    for (const wrong of [-1, Number.NaN, Number.POSITIVE_INFINITY, "300", { past: -1 }, { future: null }, true]) {
      expect(() => readTolerance(wrong as number)).toThrow(RangeError)
    }
  })

  describe("header", () => {
    it("tells a missing header from a malformed one", async () => {
      for (const missing of [null, undefined, ""]) await refusal(missing, "missing_header")
      // @ts-expect-error Node gives a repeated header as an array
      await refusal([await signed(now)], "malformed_header")
    })
    it("ignores unknown schemes at any position", async () => {
      const [t, v1] = (await signed(now)).split(",")
      const header = `v0=${zeros},${t},v2=a=b,${v1},sha512=`
      expect(await verify(header, body, [secret], { now })).toMatchObject({ entryIndex: 0 })
    })
    it("only counts v1 entries in the index of the matching one", async () => {
      const [t, v1] = (await signed(now)).split(",")
      expect(await verify(`${t},v1=${zeros},v0=x,${v1}`, body, ["other", secret], { now })).toEqual({
        timestamp: now,
        secretIndex: 1,
        entryIndex: 1,
      })
    })
    it.each([
      ["two timestamps", `t=${now},t=${now},v1=${zeros}`],
      ["no timestamp", `v1=${zeros}`],
      ["no v1", `t=${now}`],
      ["only unknown schemes", `t=${now},v2=${zeros}`],
      ["an item without a value", `t=${now},v1`],
      ["an item without a scheme", `t=${now},=x,v1=${zeros}`],
      ["a v1 too short", `t=${now},v1=${zeros.slice(1)}`],
      ["a v1 too long", `t=${now},v1=${zeros}0`],
      ["one good v1 and one that is not hex", `t=${now},v1=${zeros},v1=${"g".repeat(64)}`],
      ["an empty timestamp", `t=,v1=${zeros}`],
      ["a signed timestamp", `t=+${now},v1=${zeros}`],
      ["a timestamp with a fraction", `t=${now}.0,v1=${zeros}`],
      ["a timestamp with an exponent", `t=1e9,v1=${zeros}`],
      ["a hexadecimal timestamp", `t=0x10,v1=${zeros}`],
      ["a timestamp with a leading zero", `t=0${now},v1=${zeros}`],
      ["a timestamp in other digits", `t=١٧٨,v1=${zeros}`],
      ["a timestamp past the safe integers", `t=9007199254740992,v1=${zeros}`],
      ["a trailing line break", `t=${now},v1=${zeros}\n`],
      ["more than 4,096 characters", `t=${now},v1=${zeros},x=${"x".repeat(4096)}`],
      ["more than 32 items", `t=${now}${`,v1=${zeros}`.repeat(32)}`],
    ])("refuses %s", (_, header) => refusal(header, "malformed_header"))
    it("accepts a header at its bounds", async () => {
      const [t, v1] = (await signed(now)).split(",")
      const full = `${t},${v1}${`,v1=${zeros}`.repeat(30)}`
      expect(await verify(full, body, [secret], { now })).toMatchObject({ entryIndex: 0 })
      const long = `${t},${v1},x=`
      expect(await verify(long.padEnd(4096, "x"), body, [secret], { now })).toMatchObject({ entryIndex: 0 })
    })
    it("throws a SignatureError for any string", () =>
      fc.assert(
        fc.asyncProperty(anyHeader, async (header) => {
          const error = await verify(header, body, [secret], { now }).catch((thrown: unknown) => thrown)
          expect(error).toBeInstanceOf(SignatureError)
        }),
      ))
  })

  describe("body", () => {
    it("accepts bytes and their text alike", async () => {
      for (const same of [body, Buffer.from(body), new TextEncoder().encode(body)]) {
        expect(await verify(await signed(now), same, [secret], { now })).toMatchObject({ secretIndex: 0 })
      }
    })
    it("accepts bytes of another realm", async () => {
      const foreign = runInNewContext("Uint8Array.from(bytes)", { bytes: [...Buffer.from(body)] })
      expect(foreign).not.toBeInstanceOf(Uint8Array)
      expect(await verify(await signed(now), foreign, [secret], { now })).toMatchObject({ secretIndex: 0 })
    })
    it("rejects a parsed body, and text without a UTF-8 encoding, with an error code", async () => {
      const header = await sign("\ufffd", [secret], { timestamp: now })
      for (const wrong of ["\ud800", { object: "event" }, null, undefined, 1, new ArrayBuffer(2)]) {
        await expect(verify(header, wrong as string, [secret], { now })).rejects.toMatchObject({
          code: "malformed_body",
        })
      }
    })
    it("takes bytes that were transferred away as no bytes", async () => {
      const gone = new TextEncoder().encode(body)
      structuredClone(gone.buffer, { transfer: [gone.buffer] })
      await expect(verify(await signed(now), gone, [secret], { now })).rejects.toMatchObject({ code: "no_match" })
    })
    it("never verifies with one bit of the body flipped", () =>
      fc.assert(
        fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 256 }), fc.nat(), async (bytes, at) => {
          const header = await sign(bytes, [secret], { timestamp: now })
          const altered = flipBit(bytes, at)
          await expect(verify(header, altered, [secret], { now })).rejects.toMatchObject({ code: "no_match" })
        }),
      ))
    it("never verifies with one bit of the header flipped", async () => {
      const header = Buffer.from(await signed(now))
      for (let at = 0; at < header.length * 8; at++) {
        const altered = Buffer.from(flipBit(header, at)).toString("latin1")
        await expect(verify(altered, body, [secret], { now })).rejects.toBeInstanceOf(SignatureError)
      }
    })
  })

  describe("comparison", () => {
    it("reads as many digits of a forged signature, however many of them are right", async () => {
      const right = (await signed(now)).split("v1=")[1]!
      const other = (digit: string) => (digit === "0" ? "1" : "0")
      const digitsRead = async (entry: string) => {
        const read = vi.spyOn(String.prototype, "charCodeAt")
        try {
          await refusal(`t=${now},v1=${entry}`, "no_match")
          return read.mock.contexts.filter((text) => String(text) === entry).length
        } finally {
          read.mockRestore()
        }
      }
      const forged = [0, 31, 63].map((i) => right.slice(0, i) + other(right[i]!) + right.slice(i + 1))
      for (const entry of [...forged, zeros]) expect(await digitsRead(entry)).toBe(64)
    })
    it("is of every entry with every secret, also after one has matched", async () => {
      const entries = [effs, zeros].map((entry) => `v1=${entry}`)
      const header = `t=${now},${(await signed(now)).split(",")[1]},${entries.join(",")}`
      const read = vi.spyOn(String.prototype, "charCodeAt")
      try {
        expect(await verify(header, body, [secret, "another"], { now })).toMatchObject({
          secretIndex: 0,
          entryIndex: 0,
        })
        for (const entry of [effs, zeros]) {
          expect(read.mock.contexts.filter((text) => String(text) === entry)).toHaveLength(2 * 64)
        }
      } finally {
        read.mockRestore()
      }
    })
  })

  describe("secrets", () => {
    it("verifies exactly when signer and verifier share a secret, regardless of their other secrets", () => {
      const secrets = fc.uniqueArray(fc.constantFrom<string[]>("a", "b", "c", "d", "e"), { minLength: 1 })
      return fc.assert(
        fc.asyncProperty(secrets, secrets, async (signers, verifiers) => {
          const header = await sign(body, signers, { timestamp: now })
          const secretIndex = verifiers.findIndex((candidate) => signers.includes(candidate))
          const entryIndex = signers.indexOf(verifiers[secretIndex] ?? "")
          const answer = await verify(header, body, verifiers, { now }).catch((error) => error.code)
          expect(answer).toEqual(secretIndex < 0 ? "no_match" : { timestamp: now, secretIndex, entryIndex })
        }),
      )
    })
    it("rejects an empty list of secrets", async () => {
      await expect(verify(await signed(now), body, [], { now })).rejects.toMatchObject({ code: "no_secrets" })
    })
    it("keeps body, header and secret out of the error", async () => {
      const header = await sign(body, ["other"], { timestamp: now })
      const error = await verify(header, body, [secret], { now }).catch((thrown: SignatureError) => thrown)
      const shown = `${JSON.stringify(error)} ${Object.values(error)} ${(error as Error).stack}`
      for (const secretText of [body, header, secret, "other"]) expect(shown).not.toContain(secretText)
    })
  })
})

// Junk of any kind, and junk that begins like a header.
const anyHeader = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units)),
  fc
    .array(
      fc.tuple(
        fc.constantFrom("t", "v1", "v0", ""),
        fc.constantFrom("=", "==", ""),
        fc.constantFrom(String(now), zeros, "x"),
      ),
    )
    .map((items) => items.map((item) => item.join("")).join(",")),
)

function flipBit(bytes: Uint8Array, at: number): Uint8Array {
  const altered = Uint8Array.from(bytes)
  const index = Math.floor(at / 8) % bytes.length
  altered[index]! ^= 1 << (at % 8)
  return altered
}
