import { get as httpGet, type IncomingMessage } from "node:http"
import { buffer } from "node:stream/consumers"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { legacyCatalog, partnerCatalog } from "@outreach/contract/catalogs"
import committed from "@outreach/contract/openapi.json" with { type: "json" }
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { describe, expect, it, onTestFinished } from "vitest"
import { keysOf, PAGES, pathOf } from "../../src/docs/layout.ts"
import { ask } from "../ask.ts"
import { runApi } from "../runApi.ts"
import { startApi } from "../startApi.ts"

const BASE = "https://api.outreach.test/outreach"
const api = startApi(undefined, { PUBLIC_BASE_URL: BASE })

const PATHS = keysOf(PAGES).map(pathOf)
const DOCUMENTS = [...PATHS, "/v1/openapi.json", "/docs/signature-vectors.json"] as const

/** Asks for what comes, as it comes: nothing is decompressed and no header is added. */
const ask200 = async (path: string, headers: Record<string, string> = {}) => {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpGet(api().url + path, { headers }, resolve).on("error", reject)
  })
  return { status: response.statusCode, headers: new Headers(response.headers as never), body: await buffer(response) }
}
const markup = async (path: string) => (await fetch(api().url + path)).text()

/** What a page names in links, styles, scripts and icons, as a browser resolves it. */
const addresses = async (page: string) =>
  [...(await markup(page)).matchAll(/ (?:href|src)="([^"]*)"/g)].map(
    ([, address]) => new URL(address!, api().url + page),
  )
const assets = async () =>
  (await Promise.all(PATHS.map(addresses))).flat().filter(({ pathname }) => pathname.startsWith("/docs/assets/"))

describe("the OpenAPI document", () => {
  it("is the committed one, with this deployment as its only server, for whoever asks", async () => {
    const response = await fetch(`${api().url}/v1/openapi.json`)
    expect([response.status, response.headers.get("Content-Type")]).toEqual([200, "application/json"])
    expect(await response.json()).toEqual({ ...committed, servers: [{ url: BASE, description: "staging" }] })
  })
})

describe("a document", () => {
  it.each(DOCUMENTS)("is answered 304 while %s has not changed, whatever its coding", async (path) => {
    for (const coding of ["identity", "gzip", "br"]) {
      const first = await ask200(path, { "accept-encoding": coding })
      const etag = first.headers.get("ETag")!
      expect(etag).toMatch(/^"[\w-]{27}(-br|-gzip)?"$/)
      const again = await ask200(path, { "accept-encoding": coding, "if-none-match": `W/"other", ${etag}` })
      expect([again.status, again.body.length, again.headers.get("ETag")]).toEqual([304, 0, etag])
      for (const name of ["Cache-Control", "Vary"]) expect(again.headers.get(name)).toBe(first.headers.get(name))
      expect((await ask200(path, { "if-none-match": '"other"' })).status).toBe(200)
    }
  })

  it("may be kept for a short time by anybody when it is the contract, and is asked for anew when it is a page", async () => {
    const caching = async (path: string) => (await ask200(path)).headers.get("Cache-Control")
    expect(await Promise.all(DOCUMENTS.map(caching))).toEqual([
      ...PATHS.map(() => "no-cache"),
      "public, max-age=300",
      "public, max-age=300",
    ])
  })

  it("is compressed as the client allows, under a tag for each coding", async () => {
    for (const { pathname } of [...(await assets()), new URL("/v1/openapi.json", api().url)]) {
      const plain = await ask200(pathname)
      const br = await ask200(pathname, { "accept-encoding": "gzip, deflate, br" })
      const gz = await ask200(pathname, { "accept-encoding": "gzip, br;q=0" })
      const codings = [plain, br, gz].map(({ headers }) => headers.get("Content-Encoding"))
      expect(codings).toEqual([null, "br", "gzip"])
      expect(brotliDecompressSync(br.body)).toEqual(plain.body)
      expect(gunzipSync(gz.body)).toEqual(plain.body)
      expect(new Set([plain, br, gz].map(({ headers }) => headers.get("ETag"))).size).toBe(3)
      for (const { headers } of [plain, br, gz]) expect(headers.get("Vary")).toBe("Accept-Encoding")
    }
  })

  it("answers HEAD with the headers of GET and no body", async () => {
    for (const path of [...DOCUMENTS, ...(await assets()).map(({ pathname }) => pathname)]) {
      const [got, head] = await Promise.all(["GET", "HEAD"].map((method) => fetch(api().url + path, { method })))
      expect([head!.status, (await head!.arrayBuffer()).byteLength]).toEqual([200, 0])
      const names = ["Content-Type", "Content-Length", "Content-Encoding", "ETag", "Cache-Control"]
      for (const name of names) expect(head!.headers.get(name), name).toBe(got!.headers.get(name))
    }
  })

  it("says to browsers what it may do, and who may show it", async () => {
    for (const path of [...DOCUMENTS, ...(await assets()).map(({ pathname }) => pathname)]) {
      const { headers } = await ask200(path)
      const policy = headers.get("Content-Security-Policy")!
      expect(policy).toContain("default-src 'none'; ")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toMatch(/unsafe|http|\*|connect-src/)
      expect([headers.get("X-Content-Type-Options"), headers.get("Referrer-Policy")]).toEqual([
        "nosniff",
        "no-referrer",
      ])
      expect(headers.get("X-Request-Id")).toMatch(/^req_/)
    }
  })

  it("is found nowhere but under its path, and takes no other method", async () => {
    for (const path of [
      "/docs/",
      "/docs/nowhere",
      "/docs/assets/nowhere.css",
      "/docs/..%2fpackage.json",
      "/openapi.json",
    ]) {
      expect((await ask(api(), path)).body.error.code).toBe("NOT_FOUND")
    }
    for (const path of DOCUMENTS) {
      const { body, headers } = await ask(api(), path, { method: "POST" })
      expect([body.error.code, headers.get("Allow")]).toEqual(["METHOD_NOT_ALLOWED", "GET, HEAD, OPTIONS"])
    }
  })
})

describe("the pages", () => {
  it("name their assets by their content, so that these are kept for ever", async () => {
    expect((await assets()).length).toBeGreaterThan(0)
    for (const { pathname } of await assets()) {
      const { status, headers } = await ask200(pathname)
      expect([status, headers.get("Cache-Control")]).toEqual([200, "public, max-age=31536000, immutable"])
      expect(pathname).toContain(headers.get("ETag")!.slice(1, -1))
    }
  })

  it("lead to one another, and every link in them arrives", async () => {
    for (const page of PATHS) {
      const all = await addresses(page)
      const paths = all.map(({ pathname }) => pathname)
      for (const other of PATHS) expect(paths).toContain(other)
      for (const { origin, pathname, hash } of all) {
        expect(origin).toBe(api().url)
        const response = await fetch(api().url + pathname)
        expect(response.status, `${page} → ${pathname}`).toBe(200)
        const target = await response.text()
        if (hash !== "") expect(target, hash).toContain(` id="${hash.slice(1)}"`)
      }
    }
  })

  it.each(PATHS)("have one title, a description and headings in order, and name no id twice: %s", async (page) => {
    const text = await markup(page)
    expect(text).toMatch(/^<!doctype html>\n<html lang="en">/)
    const { title, description } = Object.values(PAGES)[PATHS.indexOf(page)]!
    expect(text).toContain(`<title>${title} · Outreach Partner API</title>`)
    expect(text).toContain(`<meta name="description" content="${description}">`)
    const levels = [...text.matchAll(/<h(\d)/g)].map(([, level]) => Number(level))
    expect(levels.filter((level) => level === 1)).toEqual([1])
    levels.reduce((before, level) => {
      expect(level).toBeLessThanOrEqual(before + 1)
      return level
    }, 0)
    const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it("are listed on the first one, with what they are about", async () => {
    const text = await markup("/docs")
    const others = Object.entries(PAGES).slice(1)
    for (const [page, { title, description }] of others) {
      expect(text).toContain(`<dt><a href="docs/${page}">${title}</a></dt><dd>${description}</dd>`)
    }
  })

  it("load one script and one style of this origin, and hold none of their own", async () => {
    for (const page of PATHS) {
      const text = await markup(page)
      expect(text.match(/<script/g)).toEqual(["<script"])
      expect(text).toMatch(/<script type="module" src="(docs\/)?assets\/[\w-]{27}\.js"><\/script>/)
      expect(text).not.toMatch(/<style| style=| on\w+=|javascript:/)
    }
  })

  it.each(PATHS)("take at most 60 KB as sent: %s, all that it loads, and the search", async (page) => {
    const coding = { "accept-encoding": "br" }
    const [script] = (await addresses(page)).filter(({ pathname }) => pathname.endsWith(".js"))
    const search = new URL(/import\("(.*)"\)/.exec(await markup(script!.pathname))![1]!, script)
    const loaded = (await addresses(page)).filter(({ pathname }) => pathname.startsWith("/docs/assets/"))
    const sizes = await Promise.all(
      [page, ...loaded.map(({ pathname }) => pathname), search.pathname].map(
        async (path) => (await ask200(path, coding)).body.length,
      ),
    )
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(60_000)
  })

  it("list all of their headings in their outline", async () => {
    for (const page of PATHS) {
      const text = await markup(page)
      const [, outline] = /<nav class="outline".*?>(.*?)<\/nav>/s.exec(text)!
      const linked = [...outline!.matchAll(/<a href="#(.*?)">(.*?)<\/a>/g)].map(([, id, title]) => [id, title])
      const headings = [...text.matchAll(/<h2 id="(.*?)">(.*?)<\/h2>|<h3><a href="#(.*?)">(.*?)<\/a><\/h3>/g)]
      expect(linked).toEqual(headings.map((all) => [all[1] ?? all[3], (all[2] ?? all[4])!.replaceAll(/<[^>]*>/g, "")]))
    }
  })
})

describe("the guide to the errors", () => {
  const databaseUrl = migratedDatabase()

  it("is where the doc_url of every code leads, unless DOCS_URL says otherwise", async () => {
    const { url, stop } = await runApi(databaseUrl(), { PUBLIC_BASE_URL: BASE })
    onTestFinished(stop)
    const { error } = (await (await fetch(`${url}/v1/nowhere`)).json()) as { error: { doc_url: string } }
    expect(error.doc_url).toBe(`${BASE}/docs/errors#NOT_FOUND`)
    for (const code of Object.keys(partnerCatalog.codes)) {
      const { pathname, hash } = new URL(error.doc_url.replace("NOT_FOUND", code))
      const response = await fetch(url + pathname.replace("/outreach", ""))
      expect(response.status).toBe(200)
      expect(await response.text()).toContain(`<section id="${hash.slice(1)}">`)
    }
  })

  it("says of each code its status, type, condition, whether to retry, and what to do", async () => {
    const text = await markup("/docs/errors")
    for (const [code, { status, type }] of Object.entries(partnerCatalog.codes)) {
      const section = text.split(`<section id="${code}">`)[1]!.split("</section>")[0]!
      expect(section).toContain(`<dt>Status</dt><dd>${status}</dd>`)
      expect(section).toContain(`<code>${type}</code>`)
      const retry = { no: "No", after: "Yes, once Retry-After", backoff: "Yes, with exponential backoff" }
      const answer = code === "IDEMPOTENCY_KEY_IN_USE" ? "Yes, once the first" : retry[partnerCatalog.retry(type)]
      expect(section).toContain(`<dt>Retry</dt><dd>${answer}`)
      expect(section).toMatch(/<dt>When<\/dt><dd>.+<\/dd>\n<dt>What to do<\/dt><dd>.+<\/dd>/)
    }
    for (const [code, { status }] of Object.entries(legacyCatalog.codes)) {
      expect(text).toMatch(new RegExp(`id="legacy-${code}">\\n.*\\n<dl>\\n<dt>Status</dt><dd>${status}</dd>`))
    }
  })
})
