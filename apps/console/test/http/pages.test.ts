import { once } from "node:events"
import { request } from "node:http"
import { buffer } from "node:stream/consumers"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { expect, it } from "vitest"
import { startConsole } from "../startConsole.ts"

const test = startConsole()

it("links an error page to the list of its section", async () => {
  const admin = await test().as("admin")
  expect((await admin.get("/nothing")).status).toBe(404)
  const { status, document } = await admin.get(`/campaigns/cmp_${"0".repeat(32)}`)
  expect(status).toBe(404)
  const links = [...document.querySelectorAll("main nav a")].map((link) => link.getAttribute("href"))
  expect(links).toEqual(["/campaigns", "/"])
})

it("serves the files of its pages, which browsers may cache forever", async () => {
  const { document } = await (await test().as("admin")).get("/nothing")
  const elements = [...document.querySelectorAll("script, link[rel=stylesheet], link[rel=icon]")]
  expect(elements.length).toBeGreaterThan(2)
  for (const element of elements) {
    const file = await fetch(`${test().url}${element.getAttribute("src") ?? element.getAttribute("href")}`)
    expect(file.status).toBe(200)
    expect(file.headers.get("cache-control")).toContain("immutable")
  }
})

/** Fetches a page with the given header, because `fetch` would decompress the response. */
const get = async (accepted: string) => {
  const { cookie } = await test().as("viewer")
  const headers = { cookie, "accept-encoding": accepted }
  const [response] = await once(request(`${test().url}/issues`, { headers }).end(), "response")
  const { "content-encoding": encoding, vary } = response.headers
  return { encoding, vary, bytes: await buffer(response) }
}

it("compresses a page as the browser accepts it", async () => {
  const plain = await get("")
  expect([plain.encoding, plain.vary]).toEqual([undefined, "Accept-Encoding"])
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
