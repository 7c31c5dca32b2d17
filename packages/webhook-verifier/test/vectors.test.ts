import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { bothEntries } from "./bothEntries.ts"

interface Vector {
  secret: string
  timestamp: number
  body_base64: string
  v1: string
}
const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../signature/test/data/${name}.json`, import.meta.url), "utf8"))
const { cases } = read("signature-vectors") as { cases: Vector[] }

interface Header {
  what: string
  header: string
}
const headers = read("header-vectors") as {
  secret: string
  timestamp: number
  body: string
  accepted: Header[]
  refused: Header[]
}

describe.each(bothEntries)("the outside vectors $entry", ({ createWebhookVerifier }) => {
  // No vector is an event, so the first refusal after the signature shows that the signature was good.
  it.each(cases)("accepts the signature of $v1, and no other", async ({ secret, timestamp, body_base64, v1 }) => {
    const verifier = createWebhookVerifier({ secrets: [secret], now: () => timestamp })
    const answer = (entry: string) =>
      verifier.verify({
        headers: { "x-signature": `t=${timestamp},v1=${entry}` },
        body: Buffer.from(body_base64, "base64"),
      })
    await expect(answer(v1)).rejects.toMatchObject({ status: 400 })
    await expect(answer(v1.replace(/./, (digit) => (digit === "0" ? "1" : "0")))).rejects.toMatchObject({
      code: "no_match",
    })
  })

  const verifyWith = (header: string) =>
    createWebhookVerifier({ secrets: [headers.secret], now: () => headers.timestamp }).verify({
      headers: { "x-signature": header },
      body: headers.body,
    })
  it.each(headers.accepted)("accepts a header with $what", ({ header }) =>
    expect(verifyWith(header)).rejects.toMatchObject({ code: "not_an_event" }),
  )
  it.each(headers.refused)("calls a header with $what malformed", ({ header }) =>
    expect(verifyWith(header)).rejects.toMatchObject({ code: "malformed_header" }),
  )
})
