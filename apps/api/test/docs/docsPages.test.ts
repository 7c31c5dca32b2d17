import { gunzipSync } from "node:zlib"
import { legacyCatalog, partnerCatalog } from "@outreach/contract/catalogs"
import committed from "@outreach/contract/openapi.json" with { type: "json" }
import { Struct } from "effect"
import { beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { PAGES, pathOf } from "../../src/docs/layout.ts"
import { ask, send } from "../ask.ts"
import { runApi } from "../runApi.ts"
import { startApi } from "../startApi.ts"
import { shownOf } from "./samplesOf.ts"

const BASE = "https://api.outreach.test/outreach"
const api = startApi(undefined, { PUBLIC_BASE_URL: BASE })

const PATHS = Struct.keys(PAGES).map(pathOf)
const GUIDES = PATHS.map((path) => `${path}.md`)
const DOCUMENTS = [...PATHS, ...GUIDES, "/llms.txt", "/v1/openapi.json", "/docs/signature-vectors.json"] as const

let texts: ReadonlyMap<string, string>
/** Paths of the styles, scripts and icons of all pages. */
let assets: ReadonlyArray<string>
beforeAll(async () => {
  texts = new Map(
    await Promise.all(PATHS.map(async (path) => [path, (await send(api(), path)).body.toString()] as const)),
  )
  const paths = PATHS.flatMap(addresses).map(({ pathname }) => pathname)
  assets = [...new Set(paths.filter((path) => path.startsWith("/docs/assets/")))]
})

/** Returns the URLs of a page's links, styles, scripts and icons, as a browser resolves them. */
const addresses = (page: string) =>
  [...texts.get(page)!.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, address]) => new URL(address!, api().url + page))

it("the OpenAPI document is public, and is the committed one with this deployment as its only server", async () => {
  const response = await fetch(`${api().url}/v1/openapi.json`)
  expect([response.status, response.headers.get("Content-Type")]).toEqual([200, "application/json"])
  expect(await response.json()).toEqual({ ...committed, servers: [{ url: BASE, description: "staging" }] })
})

describe("a document", () => {
  it("is compressed as the client allows, and is a 304 under the tag of its coding while it has not changed", async () => {
    for (const path of [...DOCUMENTS, ...assets]) {
      const plain = await send(api(), path, { headers: { "accept-encoding": "br, gzip;q=0" } })
      const gz = await send(api(), path, { headers: { "accept-encoding": "gzip, deflate, br" } })
      expect(gunzipSync(gz.body)).toEqual(plain.body)
      for (const [coding, first] of [
        [null, plain],
        ["gzip", gz],
      ] as const) {
        const etag = first.headers.get("ETag")!
        expect([first.headers.get("Content-Encoding"), first.headers.get("Vary")]).toEqual([coding, "Accept-Encoding"])
        expect(etag).toMatch(new RegExp(`^"[\\w-]{27}${coding === null ? "" : `-${coding}`}"$`))
        const headers = { "if-none-match": `W/"other", ${etag}`, "accept-encoding": coding ?? "" }
        const again = await send(api(), path, { headers })
        expect([again.status, again.body.length, again.headers.get("ETag")]).toEqual([304, 0, etag])
        for (const name of ["Cache-Control", "Vary"]) expect(again.headers.get(name)).toBe(first.headers.get(name))
      }
      expect((await send(api(), path, { headers: { "if-none-match": '"other"' } })).status).toBe(200)
    }
  })

  it("may be cached for a short time if it is the contract, must be revalidated if it is a page, and never changes if it is an asset", async () => {
    expect(assets.length).toBeGreaterThan(0)
    for (const path of [...DOCUMENTS, ...assets]) {
      const { headers } = await send(api(), path)
      const isContract = path === "/v1/openapi.json" || path === "/docs/signature-vectors.json"
      const ofPage = isContract ? "public, max-age=300" : "no-cache"
      expect(headers.get("Cache-Control")).toBe(assets.includes(path) ? "public, max-age=31536000, immutable" : ofPage)
      if (assets.includes(path)) expect(path).toContain(headers.get("ETag")!.slice(1, -1))
    }
  })

  it("returns the GET headers for HEAD, without a body, and restrictive security headers", async () => {
    for (const path of [...DOCUMENTS, ...assets]) {
      const [got, head] = [await send(api(), path), await send(api(), path, { method: "HEAD" })]
      expect([head.status, head.body.length]).toEqual([200, 0])
      for (const name of ["Content-Type", "Content-Length", "ETag", "Cache-Control"]) {
        expect(head.headers.get(name), name).toBe(got.headers.get(name))
      }
      const policy = got.headers.get("Content-Security-Policy")!
      expect(policy).toContain("default-src 'none'; ")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toMatch(/unsafe|http|\*|connect-src/)
      expect(["X-Content-Type-Options", "Referrer-Policy"].map((name) => got.headers.get(name))).toEqual([
        "nosniff",
        "no-referrer",
      ])
      expect(got.headers.get("X-Request-Id")).toMatch(/^req_/)
    }
  })

  it("is found only under its path, and takes no other method", async () => {
    for (const path of ["/docs/nowhere", "/docs/assets/nowhere.css", "/docs/..%2fpackage.json"]) {
      expect((await ask(api(), path)).body.error.code).toBe("NOT_FOUND")
    }
    const { body, headers } = await ask(api(), DOCUMENTS[0], { method: "POST" })
    expect([body.error.code, headers.get("Allow")]).toEqual(["METHOD_NOT_ALLOWED", "GET, HEAD, OPTIONS"])
  })
})

describe("the pages", () => {
  it("link to one another, and every link in them arrives", async () => {
    const targets = new Map<string, Promise<string>>()
    const textAt = (path: string) =>
      fetch(api().url + path).then((response) => {
        expect(response.status, path).toBe(200)
        return response.text()
      })
    for (const page of PATHS) {
      const all = addresses(page)
      expect(all.map(({ pathname }) => pathname)).toEqual(expect.arrayContaining([...PATHS]))
      for (const { origin, pathname, hash } of all) {
        expect(origin).toBe(api().url)
        if (!targets.has(pathname)) targets.set(pathname, textAt(pathname))
        const target = await targets.get(pathname)!
        if (hash !== "") expect(target.includes(` id="${hash.slice(1)}"`), `${page} → ${pathname}${hash}`).toBe(true)
      }
    }
  })

  it.each(PATHS)(
    "have one title, a description, headings in order, ids once, and no script or style of their own: %s",
    (page) => {
      const text = texts.get(page)!
      expect(text).toMatch(/^<!doctype html>\n<html lang="en">/)
      const { title, description } = Object.values(PAGES)[PATHS.indexOf(page)]!
      expect(text).toContain(`<title>${title} · Outreach Partner API</title>`)
      expect(text).toContain(`<meta name="description" content="${description}">`)
      expect(text).toMatch(/<link rel="alternate" type="text\/markdown" href="[^"]+\.md">/)
      const levels = [...text.matchAll(/<h(\d)/g)].map(([, level]) => Number(level))
      expect(levels.filter((level) => level === 1)).toEqual([1])
      for (const [i, level] of levels.entries()) expect(level).toBeLessThanOrEqual((levels[i - 1] ?? 0) + 1)
      const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
      expect(new Set(ids).size).toBe(ids.length)
      expect(text.match(/<script/g)).toEqual(["<script"])
      expect(text).toMatch(/<script type="module" src="(docs\/)?assets\/[\w-]{27}\.js"><\/script>/)
      expect(text).not.toMatch(/<style| style=| on\w+=|javascript:/)
    },
  )

  it("take at most 60 KB as sent, with all assets", async () => {
    const sizeOf = async (path: string) =>
      (await send(api(), path, { headers: { "accept-encoding": "gzip" } })).body.length
    const shared = (await Promise.all(assets.map(sizeOf))).reduce((sum, size) => sum + size)
    for (const page of PATHS) expect(shared + (await sizeOf(page)), page).toBeLessThan(60_000)
  })

  it.each(PATHS)("list all of their headings in their outline: %s", (page) => {
    const text = texts.get(page)!
    const [, outline] = /<nav class="outline".*?>(.*?)<\/nav>/s.exec(text)!
    const linked = [...outline!.matchAll(/<a href="#(.*?)">(.*?)<\/a>/g)].map(([, id, title]) => [id, title])
    const headings = [
      ...text.matchAll(/<h2 id="(.*?)">(.*?)<\/h2>|<h3(?: id="[^"]*")?><a href="#(.*?)">(.*?)<\/a><\/h3>/g),
    ]
    expect(linked).toEqual(headings.map((all) => [all[1] ?? all[3], (all[2] ?? all[4])!.replaceAll(/<[^>]*>/g, "")]))
  })
})

const SAMPLE = /aria-label="([^"]*)"><code>(.*?)<\/code>/gs

describe("the pages as Markdown", () => {
  const markdownOf = async (path: string) => {
    const { status, headers, body } = await send(api(), path)
    expect([status, headers.get("Content-Type")], path).toEqual([200, "text/markdown; charset=utf-8"])
    return body.toString()
  }

  it("contain the text, code, tables and lists of the page for this deployment, without markup", async () => {
    const count = (pattern: RegExp, text: string) => text.match(pattern)?.length ?? 0
    const words = (text: string) => text.match(/[\p{L}\p{N}]+/gu)
    for (const [i, path] of GUIDES.entries()) {
      const markdown = await markdownOf(path)
      const [, content] = /(<h1>.*)<footer>/s.exec(texts.get(PATHS[i]!)!)!
      const blocks = [...markdown.matchAll(/^```\w+ (.*\n[\s\S]*?\n)```$/gm)].map(([, block]) => block)
      expect(blocks).toEqual(
        Array.from(content!.matchAll(SAMPLE), ([, label, code]) => `${label}\n${shownOf(code!)}\n`),
      )

      const prose = markdown.replaceAll(/^```[\s\S]*?^```$/gm, "")
      expect(prose.replaceAll(/`[^`]*`/g, "")).not.toMatch(/<\/?[a-z]|&#?\w+;|\{\{/)
      const shown = content!.replaceAll(/<pre.*?<\/pre>/gs, "")
      expect(words(prose.replaceAll(/^\d+\. |\]\([^)]*\)|\{#\S+\}/gm, ""))).toEqual(
        words(shownOf(shown.replaceAll("<", " <"))),
      )
      expect(count(/^\| /gm, prose)).toBe(count(/<tr>|<table>/g, shown))
      expect(count(/^(-|\d+\.) /gm, prose)).toBe(count(/<li>|<dt>/g, shown))
    }
    expect(await markdownOf("/docs.md")).toContain(BASE)
  })

  it("are listed in llms.txt, and every link in them arrives", async () => {
    const list = await markdownOf("/llms.txt")
    expect(list).toMatch(/^# .+\n\n> .+\n/)
    const linked = [...list.matchAll(/^- \[.+?\]\((.+?)\): .+$/gm)].map(([, address]) => address!.replace(BASE, ""))
    expect(linked).toEqual([...GUIDES, "/v1/openapi.json", "/docs/signature-vectors.json"])
    for (const path of GUIDES) {
      for (const [, address] of (await markdownOf(path)).matchAll(/\]\(([^)]+)\)/g)) {
        const { pathname, hash } = new URL(address!, api().url + path)
        const target = await send(api(), pathname)
        expect(target.status, address).toBe(200)
        if (hash !== "") expect(target.body.toString(), address).toContain(`{${hash}}`)
      }
    }
  })
})

it("each page has a form for the search, whose page shows the query and links to the hits", async () => {
  for (const path of PATHS) {
    const [, action] = /<form role="search" action="(.*?)">/.exec(texts.get(path)!)!
    expect(new URL(action!, `${BASE}${path}`).href).toBe(`${BASE}/docs/search`)
  }
  const { status, headers, body } = await send(api(), "/docs/search?q=dead+letter+%22%3Cb%3E%7B%7Bresults%7D%7D")
  expect([status, headers.get("Cache-Control")]).toEqual([200, "no-cache"])
  expect(headers.get("Content-Security-Policy")).toContain("form-action 'self'")
  const [, query, address] = / value="(.*?)".*<ol>\n<li><a href="(.*?)">/s.exec(body.toString())!
  expect(query).toBe("dead letter &#34;&#60;b&#62;{{results}}")
  const { pathname, hash } = new URL(address!, `${api().url}/docs/search`)
  expect(texts.get(pathname)).toContain(`id="${hash.slice(1)}"`)
  for (const path of ["/docs/search", "/docs/search?q=%"]) expect((await send(api(), path)).status).toBe(200)
})

describe("the guide to the errors", () => {
  it("is the target of the doc_url of every code, unless DOCS_URL is set", async () => {
    const { url, stop } = await runApi(api().databaseUrl, { PUBLIC_BASE_URL: BASE })
    onTestFinished(stop)
    const { error } = (await (await fetch(`${url}/v1/nowhere`)).json()) as { error: { doc_url: string } }
    expect(error.doc_url).toBe(`${BASE}/docs/errors#NOT_FOUND`)
  })

  it("describes the status, type, condition, retry and solution of each code", () => {
    const text = texts.get("/docs/errors")!
    for (const [code, { status, type }] of Object.entries(partnerCatalog.codes)) {
      const section = text.split(`<h3 id="${code}">`)[1]!.split("<h3")[0]!
      expect(section).toContain(`<li><strong>Status</strong>: ${status}</li>`)
      expect(section).toContain(`<code>${type}</code>`)
      const retry = { no: "No", after: "Yes, once Retry-After", backoff: "Yes, with exponential backoff" }
      const advice = code === "IDEMPOTENCY_KEY_IN_USE" ? "Yes, after the first" : retry[partnerCatalog.retry(type)]
      expect(section).toContain(`<li><strong>Retry</strong>: ${advice}`)
      expect(section).toMatch(/<strong>When<\/strong>: .+<\/li>\n<li><strong>What to do<\/strong>: .+<\/li>/)
    }
    for (const [code, { status }] of Object.entries(legacyCatalog.codes)) {
      const section = text.split(`<h3 id="legacy-${code}">`)[1]!.split("<h3")[0]!
      expect(section).toContain(`<li><strong>Status</strong>: ${status}</li>`)
    }
  })
})
