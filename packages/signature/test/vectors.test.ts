import { describe, expect, it } from "vitest"
import { bothEntries } from "./bothEntries.ts"
import headers from "./data/header-vectors.json" with { type: "json" }
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
  it.each(headers.accepted)("accepts a header with $what", async ({ header }) => {
    const { timestamp } = await verify(header, headers.body, [headers.secret], { now: headers.timestamp })
    expect(timestamp).toBe(headers.timestamp)
  })
  it.each(headers.refused)("rejects a header with $what as malformed", async ({ header }) => {
    const verifying = verify(header, headers.body, [headers.secret], { now: headers.timestamp })
    await expect(verifying).rejects.toMatchObject({ code: "malformed_header" })
  })
})
