import { describe, expect, it } from "vitest"
import { bothEntries } from "./bothEntries.ts"
import vectors from "./data/signature-vectors.json" with { type: "json" }

describe.each(bothEntries)("$entry and the outside vectors", ({ sign, verify }) => {
  it.each(vectors.cases)("signs vector $v1 byte for byte", async ({ secret, timestamp, body_base64, v1 }) => {
    expect(await sign(Buffer.from(body_base64, "base64"), [secret], { timestamp })).toBe(`t=${timestamp},v1=${v1}`)
  })
  it.each(vectors.cases)("accepts vector $v1", async ({ secret, timestamp, body_base64, v1 }) => {
    const body = new Uint8Array(Buffer.from(body_base64, "base64"))
    expect(await verify(`t=${timestamp},v1=${v1}`, body, [secret], { now: timestamp })).toEqual({
      timestamp,
      secretIndex: 0,
      entryIndex: 0,
    })
  })
})
