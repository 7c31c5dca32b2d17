import { receiveEvent } from "@outreach/testing/receiveEvent"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { startConsole } from "../../startConsole.ts"

const test = startConsole()

const tilesOf = (document: Document) =>
  Object.fromEntries(
    [...document.querySelectorAll(".tile")].map((tile) => [
      tile.querySelector(".title")!.textContent,
      {
        value: tile.querySelector(".value")!.textContent,
        tone: tile.className.replace("tile ", ""),
        href: tile.querySelector("a")!.getAttribute("href"),
      },
    ]),
  )

/** Seeds an organization with an inbound event that could not be applied, an open breaker, and a domain that refuses its campaign. */
const seedTroubles = Effect.gen(function* () {
  const seeded = yield* seedCampaign({ recipients: 0 })
  const { organization, campaign, endpoint } = seeded
  yield* receiveEvent(seeded, `evt_${organization.id}`, "clinician.moved", {})
  yield* sql`
    update inbox set quarantined_at = clock_timestamp(), reason = 'no reason' where organization_id = ${organization.id}`
  yield* sql`update endpoint_readers set allowance = 1 where endpoint_id = ${endpoint.id}`
  yield* sql`
    insert into campaign_domains (organization_id, campaign_id, domain, pause_status, paused_until)
    values (${organization.id}, ${campaign.id}, ${`${organization.id.slice(-6)}.test`}, '5.7.1', now() + interval '1 hour'),
      (${organization.id}, ${campaign.id}, 'over.test', '5.7.1', now() - interval '1 minute')`
  return seeded
})

describe("the page of today", () => {
  it("shows zeros for an organization without problems", async () => {
    const { organization } = await test().run(seedCampaign({ recipients: 0 }))
    const { document, words } = await (await test().as("viewer", organization.id)).get("/")
    expect(tilesOf(document)).toEqual({
      "Sending now": { value: "None", tone: "neutral", href: "/campaigns?status=sending" },
      "Oldest due delivery": { value: "None", tone: "good", href: "/endpoints" },
      "Open breakers": { value: "0", tone: "good", href: "/endpoints?state=failing" },
      "Causes of failing calls": { value: "0", tone: "good", href: "/issues?state=lasting" },
      "Dead letters": { value: "0", tone: "good", href: "/issues?state=dead" },
      "Quarantined inbound events": { value: "0", tone: "good", href: "/inbox" },
      "Rejecting domains": { value: "0", tone: "good", href: "/#domains" },
      "Quota closest to target": { value: "–", tone: "neutral", href: "/programs" },
    })
    expect(words).toContain("No rejecting domains.")
    // Every time is shown in the zone that the header names.
    expect(document.querySelector("main time")).not.toBeNull()
    expect(words).not.toMatch(/\d\d:\d\d UTC/)
  })

  it("names the endpoints that fail, and those without contacts", async () => {
    const { endpoint, organization } = await test().run(seedCampaign({ recipients: 0 }))
    const failing = (notices: number) =>
      test().run(
        sql`
          update endpoint_readers set failing_since = now() - interval '2 days', notices = ${notices}::int where endpoint_id = ${endpoint.id}`,
      )
    const viewer = await test().as("viewer", organization.id)
    await failing(0)
    expect((await viewer.get("/")).words).not.toContain("Failing endpoints")
    await failing(1)
    const { words, document } = await viewer.get("/")
    expect(words).toContain("Failing endpoints")
    expect(words).toContain("no one: add contacts")
    expect(document.querySelector(`a[href="/endpoints/${endpoint.id}"]`)).not.toBeNull()
  })

  it("shows the problems of all organizations, or only those of the operator's organization", async () => {
    const everywhere = await test().as("viewer")
    const countIn = (document: Document, title: string) => Number(tilesOf(document)[title]!.value)
    const before = (await everywhere.get("/")).document
    const [one, other] = [await test().run(seedTroubles), await test().run(seedTroubles)]
    const all = await everywhere.get("/")
    const bound = await (await test().as("viewer", one.organization.id)).get("/")
    for (const title of ["Open breakers", "Quarantined inbound events", "Rejecting domains"]) {
      const added = countIn(all.document, title) - countIn(before, title)
      expect([title, added, countIn(bound.document, title)]).toEqual([title, 2, 1])
    }
    expect(tilesOf(all.document)).toMatchObject({ "Workers alive": { value: "0", tone: "bad", href: "/system" } })
    expect(tilesOf(bound.document)).not.toHaveProperty("Workers alive")
    expect(all.words).toContain(`${other.organization.id.slice(-6)}.test`)
    expect(bound.words).toContain(`${one.organization.id.slice(-6)}.test`)
    expect(bound.words).not.toContain(`${other.organization.id.slice(-6)}.test`)
  })
})

it("links the largest groups of failures to their issues, and shows the nearest quota", async () => {
  const { organization, program } = await test().run(seedDeadLetters(3))
  await test().run(
    Effect.all([
      sql`update programs set completer_target = 50 where id = ${program.id}`,
      sql`
          insert into digest_funnel (organization_id, program_id, date, account_created, learner_qualified, completer_qualified,
            account_created_total, learner_qualified_total, completer_qualified_total)
          select ${organization.id}, ${program.id}, current_date - n, 0, 0, 0, 0, 0, 45 - n from generate_series(0, 5) n`,
    ]),
  )
  const { document, words } = await (await test().as("viewer", organization.id)).get("/")
  expect(tilesOf(document)).toMatchObject({
    "Dead letters": { value: "3", tone: "warning" },
    "Quota closest to target": { value: "90 %" },
  })
  expect(words).toContain("45 of 50 completers of Heart failure")
  const [row] = document.querySelectorAll("#issues tbody tr")
  expect(row!.querySelector("a")!.getAttribute("href")).toMatch(/^\/issues\/fgr_/)
  const cells = [...row!.querySelectorAll("td")].map(({ textContent }) => textContent)
  expect([cells[1], cells[2], cells[6]]).toEqual(["3", "100 %", "3"])
})

it("links each tile to the list of the things it counts", async () => {
  const { organization, endpoint } = await test().run(seedTroubles)
  const viewer = await test().as("viewer", organization.id)
  const tiles = Object.values(tilesOf((await viewer.get("/")).document))
  const lists = new Map<string, string>()
  for (const { href } of tiles) {
    if (!href!.startsWith("/")) continue
    const { status, text } = await viewer.get(href!)
    expect(status, href!).toBe(200)
    lists.set(href!, text)
  }
  expect(lists.get("/endpoints?state=failing")).toContain(endpoint.id)
  expect((await viewer.get("/endpoints?state=disabled")).words).toContain("No endpoint matches.")
  expect(lists.get("/inbox")).toContain(`evt_${organization.id}`)
})
