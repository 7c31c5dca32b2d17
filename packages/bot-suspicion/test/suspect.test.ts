import { readFileSync } from "node:fs"
import crawlers from "crawler-user-agents" with { type: "json" }
import fc from "fast-check"
import browsers from "top-user-agents"
import { describe, expect, it } from "vitest"
import { AGENTS, type Hit, NETWORKS, SOURCES, suspect } from "../src/index.ts"
import { addressBits, networkBits } from "../src/suspect.ts"

const table = (name: string): ReadonlyArray<readonly [string, string]> =>
  Object.entries(JSON.parse(readFileSync(new URL(`./data/${name}.json`, import.meta.url), "utf8")))
const CHROME = table("people").find(([name]) => name === "Chrome")![1]

const AT = 1_780_000_000
const hit = (over: Partial<Hit> = {}): Hit => ({
  at: AT,
  method: "GET",
  headers: { "user-agent": CHROME },
  address: "198.51.100.7",
  link: "https://clinic.test/",
  ...over,
})
const PERSON = { suspected: false, reasons: [] }
const because = (...reasons: ReadonlyArray<string>) => ({ suspected: true, reasons })

describe("a user agent", () => {
  it.each(table("people"))("of %s is a person's", (_, agent) => {
    expect(suspect(hit({ headers: { "user-agent": agent } }))).toEqual(PERSON)
  })

  it.each(table("scanners"))("of %s is a scanner's", (_, agent) => {
    expect(suspect(hit({ headers: { "user-agent": agent } }))).toEqual(because("scanner"))
  })

  it.each([
    ["absent", undefined],
    ["empty", ""],
    ["blank", "  "],
  ])("that is %s is suspected", (_, agent) => {
    expect(suspect(hit({ headers: { "user-agent": agent } }))).toEqual(because("no_user_agent"))
  })

  it.each([
    "Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; WOW64; Trident/4.0; SLCC2; .NET CLR 2.0.50727)",
    "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; WOW64; Trident/7.0; .NET4.0C; .NET4.0E)",
    "Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.2; Trident/6.0)",
  ])("of an old Internet Explorer is a scanner's for a click, and a mail app's for an open: %s", (agent) => {
    const headers = { "user-agent": agent }
    expect(suspect(hit({ headers }))).toEqual(because("scanner"))
    expect(suspect(hit({ headers, link: undefined }))).toEqual(PERSON)
  })

  it("that contains one of the given texts is a scanner's, and others stay as they are", () => {
    const acme = hit({ headers: { "user-agent": "Mozilla/5.0 (compatible; Acme-Scanner/2.1 [beta])" } })
    expect(suspect(acme)).toEqual(PERSON)
    expect(suspect(acme, { agents: ["other", "acme-SCANNER/2.1 ["] })).toEqual(because("scanner"))
    expect(suspect(hit(), { agents: ["acme-scanner", ".*"] })).toEqual(PERSON)
  })

  it.each([[""], [" "], [/acme/ as unknown as string]])("is refused as %j among the given texts", (agent) => {
    expect(() => suspect(hit(), { agents: ["acme", agent] })).toThrow("agents must be texts that aren't empty")
  })

  it("of a public list of crawlers is mostly a scanner's, and an image proxy's never", () => {
    const agents = crawlers.flatMap(({ instances }) => instances)
    const found = agents.filter((agent) => suspect(hit({ headers: { "user-agent": agent } })).suspected)
    // 0.76 of 2,118; of the rest most never see an e-mail: validators, feed readers, monitors.
    expect(found.length / agents.length).toBeGreaterThan(0.7)
    expect(found.filter((agent) => /GoogleImageProxy|YahooMailProxy|okhttp/i.test(agent))).toEqual([])
  })
})

it("a user agent of the most common browsers is a person's", () => {
  expect(browsers.length).toBeGreaterThan(50)
  expect(browsers.filter((agent) => suspect(hit({ headers: { "user-agent": agent } })).suspected)).toEqual([])
})

describe("an address", () => {
  it.each([
    ["40.107.218.12", "Microsoft Defender for Office 365"],
    ["::ffff:40.107.218.12", "Microsoft Defender for Office 365, in an IPv6 socket"],
    ["2a01:111:f403:c201::5", "Microsoft Defender for Office 365"],
    ["40.94.33.1", "Microsoft Safe Links"],
    ["209.222.87.255", "Barracuda"],
    ["67.231.152.1", "Proofpoint"],
    ["207.211.31.127", "Mimecast"],
    ["150.70.84.49", "Trend Micro"],
  ])("%s, of %s, is a scanner's", (address) => {
    expect(suspect(hit({ address }))).toEqual(because("scanner_network"))
  })

  it.each([
    "40.96.0.1", // Exchange Online: Outlook on the web
    "209.222.88.0",
    "207.211.31.128",
    "2a01:111:f402::1",
    "66.249.84.1", // Google's image proxy
    ...["127.0.0.1", "::1", "::", "", "nonsense", "1.2.3", "1.2.3.4.5", "256.1.1.1", "40.107.218.12."],
    ...["1:2:3:4:5:6:7:8:9", "1::2::3", "2a01:111:f403:::1", undefined],
  ])("%j is not a scanner's", (address) => {
    expect(suspect(hit({ address }))).toEqual(PERSON)
  })

  it("in any of the ranges is a scanner's, from its first to its last, and its neighbours are not", () => {
    const numbers = NETWORKS.flatMap(({ ranges }) => ranges)
      .filter((range) => !range.includes(":"))
      .map((range) => {
        const [start, size] = range.split("/") as [string, string]
        const first = start.split(".").reduce((sum, part) => sum * 256 + Number(part), 0)
        return [first, first + 2 ** (32 - Number(size)) - 1] as const
      })
    const within = (n: number) => numbers.some(([first, last]) => n >= first && n <= last)
    const text = (n: number) => [24, 16, 8, 0].map((shift) => Math.floor(n / 2 ** shift) % 256).join(".")
    const near = fc.constantFrom(...numbers.flat()).chain((n) => fc.integer({ min: n - 3, max: n + 3 }))
    fc.assert(
      fc.property(fc.oneof(near, fc.nat(2 ** 32 - 1)), (n) => {
        expect(suspect(hit({ address: text(n) })).suspected).toBe(within(n))
      }),
    )
  })
})

describe("a request", () => {
  it.each(["HEAD", "head"])("by %s is suspected", (method) => {
    expect(suspect(hit({ method }))).toEqual(because("head"))
  })

  it.each([
    ["sec-purpose", "prefetch"],
    ["sec-purpose", "prefetch;prerender"],
    ["purpose", "prefetch"],
    ["x-moz", "prefetch"],
    ["x-purpose", "preview"],
    ["x-purpose", ": preview"],
    ["x-purpose", "instant"],
  ])("with %s: %s is suspected", (name, value) => {
    expect(suspect(hit({ headers: { "user-agent": CHROME, [name]: value } }))).toEqual(because("prefetch"))
  })
})

describe("the headers of a hit", () => {
  const fields = { "User-Agent": CHROME, "Sec-Purpose": "prefetch", Accept: "*/*" }
  const lowered = Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value] as const)
  it.each([
    ["Headers of Fetch", new Headers(fields)],
    ["an object with names as they are written", fields],
    [
      "an object with names in capitals",
      Object.fromEntries(lowered.map(([name, value]) => [name.toUpperCase(), value])),
    ],
    ["Node's object", Object.fromEntries(lowered)],
    ["Node's object of lists", Object.fromEntries(lowered.map(([name, value]) => [name, [value]]))],
    ["a Map", new Map(lowered)],
    ["pairs", Object.entries(fields)],
    ["Node's rawHeaders", Object.entries(fields).flat()],
  ])("are read from %s", (_, headers) => {
    expect(suspect(hit({ headers }))).toEqual(because("prefetch"))
  })

  it("have any name, also that of a method, and any other purpose", () => {
    const headers = { get: "a", forEach: "b", "user-agent": CHROME, purpose: "navigation" }
    expect(suspect(hit({ headers }))).toEqual(PERSON)
  })
})

describe("the time of a hit", () => {
  it.each([
    [-60, true],
    [-0.001, true],
    [0, true],
    [0.999, true],
    [1, false],
    [86_400, false],
  ])("%d s after the mailbox accepted the message makes it suspected: %s", (delay, suspected) => {
    expect(suspect(hit(), { acceptedAt: AT - delay })).toEqual(suspected ? because("too_early") : PERSON)
  })

  it.each([Date.now(), Number.NaN, Number.POSITIVE_INFINITY])(
    "that is %d is refused, as that of the acceptance is",
    (time) => {
      expect(() => suspect(hit({ at: time }))).toThrow(RangeError)
      expect(() => suspect(hit(), { acceptedAt: time })).toThrow("acceptedAt must be Unix seconds, not milliseconds")
    },
  )

  const before = (...hits: ReadonlyArray<readonly [string | undefined, number]>) => ({
    earlierHits: hits.map(([link, ago]) => ({ link, at: AT - ago })),
  })

  it("makes the third link within two seconds suspected, and not the second", () => {
    expect(suspect(hit(), before(["https://a.test/", 1]))).toEqual(PERSON)
    expect(suspect(hit(), before(["https://a.test/", 1], ["https://b.test/", 2]))).toEqual(because("many_links"))
    expect(suspect(hit(), before(["https://a.test/", 1], ["https://b.test/", 2.001]))).toEqual(PERSON)
  })

  it("counts one link once, however often it is followed, and the pixel not at all", () => {
    const again = before(
      ["https://clinic.test/", 0.1],
      ["https://clinic.test/", 0.2],
      ["https://a.test/", 0.3],
      [undefined, 0.4],
    )
    expect(suspect(hit(), again)).toEqual(PERSON)
    const opened = before(["https://a.test/", 0.1], ["https://b.test/", 0.2], ["https://c.test/", 0.3])
    expect(suspect(hit({ link: undefined }), opened)).toEqual(PERSON)
  })
})

describe("suspect", () => {
  it("names every reason that applies, in one order", () => {
    const earlierHits = ["https://a.test/", "https://b.test/"].map((link) => ({ link, at: AT }))
    const headers = { "user-agent": "curl/8.5.0", purpose: "prefetch" }
    expect(suspect(hit({ method: "HEAD", headers, address: "40.94.0.0" }), { acceptedAt: AT, earlierHits })).toEqual(
      because("scanner", "scanner_network", "head", "prefetch", "too_early", "many_links"),
    )
  })

  it("is deterministic for any input, and suspects a hit exactly when there is a reason", () => {
    const hits = fc.record({
      at: fc.double({ min: -1e10, max: 1e10, noNaN: true }),
      method: fc.string(),
      headers: fc.dictionary(
        fc.constantFrom("user-agent", "purpose", "x-moz", "sec-purpose", "__proto__x"),
        fc.string(),
      ),
      address: fc.option(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6()), { nil: undefined }),
      link: fc.option(fc.string(), { nil: undefined }),
    })
    const what = fc.record({
      acceptedAt: fc.option(fc.double({ min: -1e10, max: 1e10, noNaN: true }), { nil: undefined }),
      earlierHits: fc.array(hits, { maxLength: 5 }),
    })
    fc.assert(
      fc.property(hits, what, (one, about) => {
        const answer = suspect(one, about)
        expect(answer.suspected).toBe(answer.reasons.length > 0)
        expect(new Set(answer.reasons).size).toBe(answer.reasons.length)
        expect(suspect(one, about)).toEqual(answer)
      }),
    )
  })

  it("is never less suspicious for knowing of more hits", () => {
    const earlier = fc.array(fc.record({ link: fc.webUrl(), at: fc.double({ min: AT - 3, max: AT, noNaN: true }) }))
    fc.assert(
      fc.property(earlier, earlier, (some, more) => {
        const known = suspect(hit(), { earlierHits: some }).reasons
        expect(suspect(hit(), { earlierHits: [...some, ...more] }).reasons).toEqual(expect.arrayContaining([...known]))
      }),
    )
  })
})

describe("the data", () => {
  it("names where each entry comes from, and when that was read", () => {
    const described = SOURCES.flatMap(({ entries }) => entries)
    expect([...new Set(described)].sort()).toEqual([...AGENTS, ...NETWORKS].map(({ name }) => name).sort())
    for (const { url, read } of SOURCES) {
      expect(new URL(url).href).toContain(url)
      expect(new Date(read).toISOString()).toBe(`${read}T00:00:00.000Z`)
    }
  })

  it("finds in the public list of crawlers each agent that names it as its source", () => {
    const { entries } = SOURCES.find(({ url }) => url.endsWith("/crawler-user-agents"))!
    const listed = crawlers.flatMap(({ instances }) => instances)
    const patterns = AGENTS.filter(({ name }) => entries.includes(name))
    expect(patterns.filter(({ pattern }) => !listed.some((agent) => pattern.test(agent)))).toEqual([])
  })

  it("has patterns with the same flags, and networks without extra host bits", () => {
    expect(new Set(AGENTS.map(({ pattern }) => pattern.flags))).toEqual(new Set(["i"]))
    for (const range of NETWORKS.flatMap(({ ranges }) => ranges)) {
      const [start = "", size] = range.split("/")
      expect(networkBits(range), range).toHaveLength(1 + Number(size))
      expect(addressBits(start).slice(1 + Number(size)), range).not.toContain("1")
    }
  })
})
