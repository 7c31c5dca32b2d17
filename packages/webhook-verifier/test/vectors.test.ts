import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { bothEntries } from "./bothEntries.ts"

interface Vector {
  secret: string
  timestamp: number
  body_base64: string
  v1: string
}
const path = new URL("../../signature/test/data/signature-vectors.json", import.meta.url)
const { cases } = JSON.parse(readFileSync(path, "utf8")) as { cases: Vector[] }

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
})
