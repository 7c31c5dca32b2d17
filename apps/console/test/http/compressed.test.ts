import { once } from "node:events"
import { request } from "node:http"
import { buffer } from "node:stream/consumers"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { expect, it } from "vitest"
import { startConsole } from "../startConsole.ts"

const test = startConsole()

/** Fetches as the header says; `fetch` of Node would decompress. */
const get = async (accepted: string, fragment?: string) => {
  const { cookie } = await test().as("viewer")
  const headers = { cookie, "accept-encoding": accepted, ...(fragment !== undefined && { fragment }) }
  const [response] = await once(request(`${test().url}/issues`, { headers }).end(), "response")
  const { "content-encoding": encoding, vary } = response.headers
  return { encoding, vary, bytes: await buffer(response) }
}

it("sends a page as the browser accepts it", async () => {
  const plain = await get("")
  expect([plain.encoding, plain.vary]).toEqual([undefined, "accept-encoding"])
  expect(plain.bytes.toString()).toContain("</html>")
  for (const [accepted, encoding, decompress] of [
    ["gzip, deflate, br", "br", brotliDecompressSync],
    ["gzip, br;q=0", "gzip", gunzipSync],
  ] as const) {
    const answer = await get(accepted)
    expect(answer.encoding).toBe(encoding)
    expect(answer.bytes.length).toBeLessThan(plain.bytes.length / 2)
    expect(decompress(answer.bytes).toString()).toContain("</html>")
  }
  expect((await get("gzip;q=0")).encoding).toBeUndefined()
})

it("sends a fragment of a page alone, and nothing for one that the page lacks", async () => {
  const fragment = (await get("", "renewed")).bytes.toString()
  expect(fragment).toMatch(/^<div id="renewed".*<\/div>$/s)
  expect((await get("", "other")).bytes).toHaveLength(0)
})
