import { readFileSync } from "node:fs"
import { suspect } from "@outreach/bot-suspicion"
import crawlers from "crawler-user-agents"
import { isBot } from "isbot"
import browsers from "top-user-agents"
import type { Comparison } from "./Comparison.ts"

type Judge = (agent: string) => boolean

const agentsOf = (name: string): readonly string[] =>
  Object.values(
    JSON.parse(
      readFileSync(new URL(`../../../packages/bot-suspicion/test/data/${name}.json`, import.meta.url), "utf8"),
    ),
  )
/** Returns the agents of the public list with one of the tags. The list's types don't include tags. */
const listed = (...tags: readonly string[]): readonly string[] =>
  (crawlers as readonly { readonly tags?: readonly string[]; readonly instances: readonly string[] }[])
    .filter((it) => it.tags?.some((tag) => tags.includes(tag)))
    .flatMap(({ instances }) => instances)

/** Image proxies and mail apps of human readers; some are in the public list. */
const READERS = /GoogleImageProxy|YahooMailProxy|FastmailUA|Shortwave|okhttp/
const programs = (agents: readonly string[]): readonly string[] => agents.filter((agent) => !READERS.test(agent))
const readers = [...new Set([...agentsOf("people"), ...listed("social-preview", "http-library")])].filter((agent) =>
  READERS.test(agent),
)

/** Agents by kind; those of crawler-user-agents by tag, and some have two tags. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  "mail scanners and link previews in mail, detected": agentsOf("scanners"),
  "link previews in crawler-user-agents, detected": programs(listed("social-preview")),
  "libraries in crawler-user-agents, detected": programs(listed("http-library")),
  "automated browsers in crawler-user-agents, detected": listed("browser-automation"),
  "site scanners in crawler-user-agents, detected": listed("scanner"),
  "search engines and AI in crawler-user-agents, detected": listed("search-engine", "ai-crawler"),
  "SEO and advertising crawlers in crawler-user-agents, detected": listed("seo", "advertising"),
  "monitors, feed readers, archives in crawler-user-agents, detected": listed(
    "monitoring",
    "feed-reader",
    "archiver",
    "academic",
  ),
  "all of crawler-user-agents, detected": crawlers.flatMap(({ instances }) => instances),
  "image proxies and libraries of mail apps, false positives": readers,
  "people's browsers and mail apps, false positives": programs(agentsOf("people")),
  "most common browsers of top-user-agents, false positives": browsers,
}

const CHROME =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"
const SLACK = "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"
const at = 1_780_000_000
const headers = { host: "mail.example", accept: "*/*", "accept-encoding": "gzip, br", "accept-language": "en" }
const hitOf = (agent: string) => ({
  at,
  method: "GET",
  headers: { ...headers, "user-agent": agent },
  address: "198.51.100.7",
  link: "https://clinic.example/",
})
const [person, scanner] = [hitOf(CHROME), hitOf(SLACK)]

const judges: readonly Judge[] = [
  (agent) => suspect({ at, method: "GET", headers: { "user-agent": agent } }).suspected,
  (agent) => isBot(agent),
]

export const comparison: Comparison = {
  features: [
    "detects user agents",
    "detects networks of mail filters, IPv4 and IPv6",
    "detects HEAD requests and prefetch headers",
    "detects early hits and bursts of links",
    "accepts headers in any form",
    "returns all reasons",
    "documents sources and dates",
    "custom user agents",
  ],
  counts: Object.fromEntries(
    Object.entries(KINDS).map(([kind, agents]) => [
      kind,
      judges.map((judge) => `${agents.filter(judge).length} of ${agents.length}`),
    ]),
  ),
  operations: ["classify a click in Chrome", "classify Slack's preview"],
  candidates: [
    {
      name: "@outreach/bot-suspicion",
      packageName: "@outreach/bot-suspicion",
      code: 'import { suspect } from "@outreach/bot-suspicion"\nexport const suspected = (hit) => suspect(hit).suspected',
      has: [
        "detects user agents",
        "detects networks of mail filters, IPv4 and IPv6",
        "detects HEAD requests and prefetch headers",
        "detects early hits and bursts of links",
        "accepts headers in any form",
        "returns all reasons",
        "documents sources and dates",
        "custom user agents",
      ],
      operations: {
        "classify a click in Chrome": () => suspect(person, { acceptedAt: at - 60 }),
        "classify Slack's preview": () => suspect(scanner, { acceptedAt: at - 60 }),
      },
    },
    {
      name: "isbot",
      packageName: "isbot",
      code: 'import { isBot } from "isbot"\nexport const suspected = (request) => isBot(request.headers.get("User-Agent"))',
      has: ["detects user agents", "custom user agents"],
      operations: {
        "classify a click in Chrome": () => isBot(person.headers["user-agent"]),
        "classify Slack's preview": () => isBot(scanner.headers["user-agent"]),
      },
    },
  ],
}
