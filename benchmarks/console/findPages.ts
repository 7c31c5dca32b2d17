import type { RunningConsole } from "./startConsole.ts"

/** A kind of page by its URL pattern, and the first URL found. */
export interface FoundPage {
  readonly pattern: string
  readonly address: string
}

/** The number of URLs that are opened to find links. */
const MAX_OPENED = 140

/** URLs that only a form produces: filters that match few rows or none are the slowest. */
const OF_FORMS = [
  "/audit?operator=nobody",
  "/audit?result=failed",
  "/audit?result=interrupted",
  "/dead-letters/replay?type=outreach.email_sent",
  "/deliveries?state=delivered",
  "/deliveries?state=delivered&type=outreach.email_bounced",
  "/deliveries?type=outreach.recipients_published",
  `/deliveries?organization=org_${"3".padStart(32, "0")}`,
  `/deliveries?endpoint=whe_${"70".padStart(32, "0")}&type=outreach.email_sent`,
  `/campaigns/cmp_${"65".padStart(32, "0")}/recipients?outcome=learner_qualified`,
  `/events?campaign=cmp_${"65".padStart(32, "0")}`,
  `/events?campaign=cmp_${"65".padStart(32, "0")}&type=outreach.recipients_published`,
  "/inbox?reason=no_reason",
  "/inbox?applied=yes",
  "/inbox?applied=yes&type=clinician.learner_qualified",
  `/people/rcp_${"1".padStart(8, "0")}${"100".padStart(24, "0")}`,
] as const

/** Finds a page of each kind by following links, like an operator. */
export async function findPages({ url, cookie }: RunningConsole): Promise<ReadonlyArray<FoundPage>> {
  const found = new Map<string, string>()
  const waiting: Array<string> = ["/", ...OF_FORMS]
  for (let opened = 0; waiting.length > 0 && opened < MAX_OPENED; opened++) {
    const address = waiting.shift()!
    const response = await fetch(`${url}${address}`, { headers: { cookie }, redirect: "manual" })
    if (!response.headers.get("content-type")?.startsWith("text/html")) {
      await response.body?.cancel()
      continue
    }
    if (response.status !== 200) throw new Error(`${address}: ${response.status}`)
    const page = await response.text()
    for (const [, href] of page.matchAll(/<a [^>]*href="(\/[^"#]*)"/g)) {
      const each = href!.replaceAll("&amp;", "&")
      const pattern = patternOf(each)
      if (found.has(pattern)) continue
      found.set(pattern, each)
      waiting.push(each)
    }
  }
  const ofForms = OF_FORMS.map((address) => ({ pattern: address.replaceAll(/_0{8,}/g, "_…"), address }))
  return [...[...found].map(([pattern, address]) => ({ pattern, address })), ...ofForms].sort((a, b) =>
    a.pattern < b.pattern ? -1 : 1,
  )
}

/** Returns a URL with the names of its query parameters but without the values. */
const patternOf = (address: string): string => {
  const [path = "", search = ""] = address.split("?")
  const names = [...new Set(new URLSearchParams(search).keys())].sort()
  const shape = path.replaceAll(/\b[a-z]{3}_[0-9a-f]{32}\b/g, "…").replaceAll(/\/(?:in-\d+|\d{4}-\d\d-\d\d)\b/g, "/…")
  return names.length === 0 ? shape : `${shape}?${names.join("&")}`
}
