import { commandCampaign } from "@outreach/domain/campaigns/Campaigns"
import { receiveEvent } from "@outreach/testing/receiveEvent"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { claimMessages, sendCampaign, settleSent } from "@outreach/testing/sendCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { type Answer, rowsOf, startConsole } from "../../startConsole.ts"

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

/** Returns the cells of the urgent problems: urgency, problem, age and action, with the address of each problem. */
const urgentIn = (answer: Answer) => {
  const links = [...answer.document.querySelectorAll("#urgent tbody td:first-child a")]
  return rowsOf(answer, "Problems, the most urgent first").map((cells, i) => ({
    ...{ problem: cells[0]!, urgency: cells[1], since: cells[2]!, action: cells[3]! },
    to: links[i]!.getAttribute("href")!,
  }))
}

describe("the page of today", () => {
  it("shows one line and the numbers for an organization without problems", async () => {
    const { organization } = await test().run(seedCampaign({ recipients: 0 }))
    const answer = await (await test().as("viewer", organization.id)).get("/")
    const { document, words } = answer
    expect(urgentIn(answer)).toEqual([])
    expect(words).toContain("Nothing needs your attention.")
    expect(tilesOf(document)).toEqual({
      "Sending now": { value: "None", tone: "neutral", href: "/campaigns?status=sending" },
      ...Object.fromEntries(
        ["Sent", "Bounced", "Opened", "Clicked", "Accounts"].map((title) => [
          title,
          { value: "0", tone: "neutral", href: "/numbers" },
        ]),
      ),
      "Quota closest to target": { value: "–", tone: "neutral", href: "/programs" },
    })
    // Every time is shown in the zone that the header names.
    expect(document.querySelector("main time")).not.toBeNull()
    expect(words).not.toMatch(/\d\d:\d\d UTC/)
  })

  it("names the endpoints that fail, since when, and those without contacts", async () => {
    const { endpoint, organization } = await test().run(seedCampaign({ recipients: 0 }))
    const failing = (notices: number) =>
      test().run(
        sql`
          update endpoint_readers set failing_since = now() - interval '2 days', notices = ${notices}::int where endpoint_id = ${endpoint.id}`,
      )
    const viewer = await test().as("viewer", organization.id)
    await failing(0)
    expect(urgentIn(await viewer.get("/"))).toEqual([])
    await failing(1)
    const [first, ...others] = urgentIn(await viewer.get("/"))
    expect(first).toMatchObject({ urgency: "critical", to: `/endpoints/${endpoint.id}` })
    expect([first!.problem, first!.since, first!.action]).toEqual([
      expect.stringContaining("has failed for a day."),
      expect.stringContaining("2 d ago"),
      "No one is notified. Add contacts",
    ])
    expect(others).toEqual([])
  })

  it("shows the problems of all organizations, or only those of the operator's organization", async () => {
    const [one, other] = [await test().run(seedTroubles), await test().run(seedTroubles)]
    const all = urgentIn(await (await test().as("viewer")).get("/"))
    const bound = urgentIn(await (await test().as("viewer", one.organization.id)).get("/"))
    const domainOf = ({ organization }: typeof one) => `${organization.id.slice(-6)}.test: rejects e-mails of Spring.`
    expect(all.map(({ problem }) => problem)).toEqual(expect.arrayContaining([domainOf(one), domainOf(other)]))
    expect(all[0]).toMatchObject({
      urgency: "critical",
      to: "/system",
      problem: expect.stringMatching(/^No worker runs/),
    })
    expect(bound.map(({ problem, to }) => [problem, to])).toEqual([
      ["Inbound events that could not be applied: 1.", "/inbox"],
      [domainOf(one), `/campaigns/${one.campaign.id}#domains`],
    ])
  })

  it("lists a paused campaign with its remedy as urgent, and a campaign that sends with its progress", async () => {
    const { organization, campaign } = await test().run(function* () {
      const seeded = yield* seedCampaign({ recipients: 3 })
      yield* sendCampaign(seeded.campaign.id)
      const [lease] = yield* claimMessages(1)
      yield* settleSent(lease!)
      return seeded
    })
    const viewer = await test().as("viewer", organization.id)
    const open = async () => {
      const answer = await viewer.get("/")
      return { urgent: urgentIn(answer), sending: rowsOf(answer, "Sending campaigns") }
    }
    const running = await open()
    expect(running.urgent).toEqual([])
    expect(running.sending).toEqual([["Spring", expect.stringContaining("2 left"), "Sending."]])
    await test().run(commandCampaign(campaign.id, "pause", { stoppedBy: "Dana Reyes", stopReason: "wrong link" }))
    const { urgent, sending } = await open()
    expect(sending.map(([name]) => name)).toEqual([])
    expect(urgent).toMatchObject([
      {
        problem: expect.stringMatching(
          /^Spring: Dana Reyes paused it at [-\d]+ \d\d:\d\d: wrong link\. E-mails are paused/,
        ),
        to: `/campaigns/${campaign.id}`,
        since: expect.stringContaining("ago"),
        action: "Resume it once the reason is gone.",
      },
    ])
  })
})

it("replaces the alert on dead letters by the issues that have all of them, and shows the nearest quota", async () => {
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
  const answer = await (await test().as("viewer", organization.id)).get("/")
  expect(tilesOf(answer.document)).toMatchObject({ "Quota closest to target": { value: "90 %" } })
  expect(answer.words).toContain("45 of 50 completers of Heart failure")
  expect(urgentIn(answer)).toEqual([
    expect.objectContaining({
      problem: expect.stringMatching(/^Calls to .+ fail: .+; 3 dead letters\.$/),
      to: expect.stringMatching(/^\/issues\/fgr_/),
    }),
  ])
})

it("links each problem and number to an existing page", async () => {
  const { organization } = await test().run(seedTroubles)
  const viewer = await test().as("viewer", organization.id)
  const { document } = await viewer.get("/")
  for (const link of document.querySelectorAll("main a[href^='/']")) {
    const address = link.getAttribute("href")!.split("#")[0]!
    expect([address, (await viewer.get(address)).status]).toEqual([address, 200])
  }
})
