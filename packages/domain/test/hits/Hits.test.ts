import { suspect } from "@outreach/bot-suspicion"
import { expect, it } from "vitest"
import { EARLIER_HITS_SECONDS, MAX_EARLIER_HITS, MAX_HITS_PER_MINUTE } from "../../src/hits/Hits.ts"

it("a hit is judged by exactly the earlier hits that can matter", () => {
  const reasonsAfter = (seconds: number) =>
    suspect(
      { at: seconds, method: "GET", headers: { "user-agent": "Mozilla/5.0" }, link: "https://a.test/" },
      { earlierHits: ["https://b.test/", "https://c.test/"].map((link) => ({ at: 0, link })) },
    ).reasons
  expect(reasonsAfter(EARLIER_HITS_SECONDS)).toEqual(["many_links"])
  expect(reasonsAfter(EARLIER_HITS_SECONDS + 0.001)).toEqual([])
})

it("repeats of one link leave room for earlier hits of other links, also at the turn of a minute", () => {
  expect(MAX_EARLIER_HITS).toBeGreaterThan(2 * MAX_HITS_PER_MINUTE.link)
})
