import { createHmac } from "node:crypto"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { bothEntries } from "./bothEntries.ts"

const timestamp = 1_780_000_000

describe.each(bothEntries)("sign of $entry", ({ sign }) => {
  it("writes one v1 for each secret, in their order", async () => {
    const v1 = (secret: string) => createHmac("sha256", secret).update(`${timestamp}.{}`).digest("hex")
    expect(await sign("{}", ["old", "new"], { timestamp })).toBe(`t=${timestamp},v1=${v1("old")},v1=${v1("new")}`)
  })
  it("takes a string as its UTF-8 bytes", () =>
    fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), async (text) => {
        const bytes = new TextEncoder().encode(text)
        expect(await sign(text, ["s"], { timestamp })).toBe(await sign(bytes, ["s"], { timestamp }))
      }),
    ))
  it("signs a view of a larger buffer by its own bytes", async () => {
    const view = new Uint8Array(new TextEncoder().encode("before{}after").buffer, 6, 2)
    expect(await sign(view, ["s"], { timestamp })).toBe(await sign("{}", ["s"], { timestamp }))
  })
  it("signs with each of more secrets than are kept as keys", async () => {
    for (const n of [...Array(1100).keys(), 0]) {
      const v1 = createHmac("sha256", `secret ${n}`).update("0.").digest("hex")
      expect(await sign("", [`secret ${n}`], { timestamp: 0 })).toBe(`t=0,v1=${v1}`)
    }
  })
  it("rejects a string without a UTF-8 encoding, because its replacement would have the same signature", async () => {
    await expect(sign("\ud800", ["s"], { timestamp })).rejects.toMatchObject({ code: "malformed_body" })
    await expect(sign("🔑 \udd11", ["s"], { timestamp })).rejects.toMatchObject({ code: "malformed_body" })
  })
  it("rejects a body that is neither bytes nor text", async () => {
    // @ts-expect-error a parsed body is neither bytes nor text
    await expect(sign({ object: "event" }, ["s"], { timestamp })).rejects.toMatchObject({ code: "malformed_body" })
    // @ts-expect-error wider elements have no one byte order
    await expect(sign(new Uint16Array(2), ["s"], { timestamp })).rejects.toMatchObject({ code: "malformed_body" })
  })
  it("rejects an empty list of secrets, and what is not a list of strings", async () => {
    await expect(sign("", [], { timestamp })).rejects.toMatchObject({ code: "no_secrets" })
    // @ts-expect-error the secrets are an array
    await expect(sign("", "whsec_abc", { timestamp })).rejects.toThrow(TypeError)
  })
  it.each([Number.NaN, -1, 1.5, 2 ** 53, Number.POSITIVE_INFINITY])("rejects %d as a timestamp", async (nonsense) => {
    await expect(sign("", ["s"], { timestamp: nonsense })).rejects.toThrow(RangeError)
  })
})
