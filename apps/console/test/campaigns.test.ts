import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import { reportBounce } from "@outreach/domain/mail/Bounces"
import { Mailer, type MailOutcome } from "@outreach/domain/mail/Mailer"
import type { MessageLease } from "@outreach/domain/mail/Message"
import { sendMessage } from "@outreach/domain/mail/Outreach"
import { createSeedId } from "@outreach/domain/mail/SeedMessage"
import { SeedRepository } from "@outreach/domain/mail/SeedRepository"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { claimMessages, resetSending, sendCampaign } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach, describe, expect, it } from "vitest"
import { startConsole, versionIn } from "./startConsole.ts"

const test = startConsole()

beforeEach(() => test().run(resetSending))

const settle = (lease: MessageLease, outcome: MailOutcome) => {
  const mailer = Mailer.of({ send: (_mail, _lease, record) => record(outcome) })
  const sending = { campaignId: lease.campaignId, beginBy: 0n, begin: () => {}, isHeld: () => true }
  return sendMessage(lease, Effect.never, { sending, answered: Effect.void }).pipe(
    Effect.provideService(Mailer, mailer),
  )
}

const statusOf = (id: string) =>
  test().run(
    Effect.map(
      Effect.flatMap(CampaignRepository, (all) => all.find(id as never)),
      ({ status }) => status,
    ),
  )

const audited = (command: string) =>
  test().run(
    SqlClient.SqlClient.use(
      (sql) => sql<{ arguments: object; operator: string }>`
        select arguments, operator from audit_log where command = ${command} order by begun_at desc limit 1`,
    ),
  )

describe("the list of campaigns", () => {
  it("shows window, counts with and without suspected bots, and rate, filtered and page by page", async () => {
    const { campaign, organization } = await test().run(seedCampaign({ recipients: 3, opensIn: 3600 }))
    await test().run(seedCampaign({ recipients: 1 }))
    const viewer = await test().as("viewer")
    const { words, document } = await viewer.get(`/campaigns?organization=${organization.id}&text=SPR`)
    expect(words).toContain("Spring")
    expect(words).toContain("begins in")
    expect(document.querySelectorAll("tbody tr")).toHaveLength(1)
    expect(document.querySelector(`a[href="/campaigns/${campaign.id}"]`)).not.toBeNull()
    expect(words).toContain(`ops campaigns list --organization ${organization.id}`)
    expect((await viewer.get("/campaigns?text=nothing-like-it")).words).toContain("No campaign fits.")
    expect((await viewer.get("/campaigns?status=done")).words).toContain("It must be one of draft, scheduled")
  })

  it("shows an operator of one organization its campaigns alone", async () => {
    const { campaign, organization } = await test().run(seedCampaign({ recipients: 0 }))
    const { campaign: other } = await test().run(seedCampaign({ recipients: 0 }))
    const bound = await test().as("viewer", organization.id)
    const { text } = await bound.get("/campaigns")
    expect(text).toContain(campaign.id)
    expect(text).not.toContain(other.id)
    expect((await bound.get(`/campaigns/${other.id}`)).status).toBe(404)
    expect((await bound.get(`/campaigns/${other.id}/mail/html`)).status).toBe(404)
  })
})

describe("a campaign", () => {
  it("is launched after its preflight, paused and resumed, which the audit log records", async () => {
    const { campaign } = await test().run(seedCampaign({ recipients: 2, opensIn: 3600 }))
    const path = `/campaigns/${campaign.id}`
    const operator = await test().as("operator")
    const { words } = await operator.get(path)
    expect(words).toContain("Preflight")
    expect(words).toContain("0 wrong")
    expect(words).toContain("The e-mail shows a link to unsubscribe.")
    const asked = await operator.get(`${path}/schedule`)
    expect(asked.words).toContain("2 of 2 recipients")
    expect(asked.words).toContain("begins in")
    expect(asked.words).toContain(`ops campaigns schedule ${campaign.id}`)
    expect(await statusOf(campaign.id)).toBe("draft")
    expect((await operator.post(`${path}/schedule`)).words).toContain("Scheduled")
    expect(await statusOf(campaign.id)).toBe("scheduled")
    expect((await operator.post(`${path}/pause`)).words).toContain("Reason is missing")
    const reason = "the partner asked to wait"
    const paused = await operator.post(`${path}/pause`, { reason })
    expect(paused.words).toMatch(/Paused by operator \d+ at .* 0 s ago: the partner asked to wait/)
    expect(await statusOf(campaign.id)).toBe("paused")
    expect(await audited("campaigns pause")).toMatchObject([{ arguments: { campaign: campaign.id, reason } }])
    expect((await operator.post(`${path}/pause`, { reason })).words).toContain("is paused; this needs it to be")
    expect((await operator.post(`${path}/resume`)).words).toContain("Resumed")
    expect(await statusOf(campaign.id)).toBe("scheduled")
    expect((await operator.get(path)).words).not.toContain("the partner asked to wait")
    expect(await audited("campaigns resume")).toEqual([
      { arguments: { campaign: campaign.id }, operator: expect.stringMatching(/^operator/) },
    ])
  })

  it("says in words why no e-mail goes out, and so does Today", async () => {
    const { campaign, organization } = await test().run(seedCampaign({ recipients: 2 }))
    const viewer = await test().as("viewer", organization.id)
    const execute = (statement: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
      test().run(Effect.orDie(SqlClient.SqlClient.use(statement)))
    const why = async () => (await viewer.get(`/campaigns/${campaign.id}`)).words
    expect(await why()).toContain("No e-mail goes out. It is a draft")
    await test().run(sendCampaign(campaign.id))
    expect(await why()).toContain(
      "No e-mail goes out. No worker runs, so nothing is published or sent. Start a worker.",
    )
    expect((await viewer.get("/")).words).toMatch(/Campaigns that send nothing.*SpringNo worker runs/)

    await execute((sql) => sql`insert into delivery_workers values (gen_random_uuid(), now() + interval '1 hour')`)
    for (const lease of await test().run(claimMessages(2))) {
      await test().run(settle(lease, { _tag: "Unreachable", failure: { class: "refused", code: "ECONNREFUSED" } }))
    }
    const down = "The mail server is down: it refuses the connection (ECONNREFUSED). 2 messages wait for it"
    expect(await why()).toContain(`No e-mail goes out. ${down}`)
    expect((await viewer.get("/")).words).toContain(down)
    for (const lease of await test().run(
      Effect.andThen(
        Effect.orDie(SqlClient.SqlClient.use((sql) => sql`update messages set due_at = now()`)),
        claimMessages(2),
      ),
    )) {
      await test().run(settle(lease, { _tag: "Refused", status: "550 5.7.1" }))
    }
    expect(await why()).toMatch(/No e-mail goes out. clinic.test refused us, and is left alone until .* UTC. The next/)
    await execute(
      (sql) => sql`update campaigns set window_start = now() + interval '30 minutes' where id = ${campaign.id}`,
    )
    expect(await why()).toContain("No e-mail goes out. Its window has not begun: it begins at")
    expect((await viewer.get("/")).words).not.toContain("Campaigns that send nothing")
    await execute((sql) => sql`delete from delivery_workers`)
  })

  it("says what is wrong before it is sent", async () => {
    const { campaign } = await test().run(seedCampaign({ recipients: 0, opensIn: 3600 }))
    const { words } = await (await test().as("viewer")).get(`/campaigns/${campaign.id}`)
    expect(words).toContain("1 wrong")
    expect(words).toContain("No recipient is imported.")
    expect(words).toContain(`ops recipients import --campaign ${campaign.id}`)
  })

  it("whose check fails is scheduled only by an operator who types its name", async () => {
    const { campaign } = await test().run(seedCampaign({ recipients: 0, opensIn: 3600 }))
    const path = `/campaigns/${campaign.id}/schedule`
    const operator = await test().as("operator")
    const { words, document } = await operator.get(path)
    expect(words).toContain("0 of 0 recipients")
    expect(words).toContain("It is not ready: No recipient is imported.")
    expect(words).toContain(`ops campaigns schedule ${campaign.id} --force recipients`)
    expect(document.querySelector(`form[method="post"][action="${path}"] input[name="force"]`)).not.toBeNull()

    const refused = await operator.post(path)
    expect([refused.status, refused.words]).toEqual([409, expect.stringContaining("What was typed is not “Spring”.")])
    expect((await operator.post(path, { force: "everything" })).words).toContain("force is not valid")
    expect((await operator.post(path, { force: "quota", typed: "Spring" })).status).toBe(409)
    expect((await operator.post(path, { force: "recipients", typed: "Summer" })).words).toContain("is not “Spring”")
    expect(await statusOf(campaign.id)).toBe("draft")
    expect((await operator.post(path, { force: "recipients", typed: "Spring" })).words).toContain("Scheduled")
    expect(await audited("campaigns schedule")).toMatchObject([
      { arguments: { campaign: campaign.id, force: ["recipients"] } },
    ])
    expect((await operator.get(path)).words).toContain("is scheduled; this needs it to be draft or paused")
  })

  it("gets another rate, and none", async () => {
    const { campaign } = await test().run(seedCampaign({ recipients: 1 }))
    const operator = await test().as("operator")
    const path = `/campaigns/${campaign.id}/rate`
    const page = await operator.get(`/campaigns/${campaign.id}`)
    const changed = await operator.post(path, { "per-minute": "1200", version: versionIn(page, path) })
    expect(changed.words).toContain("1,200 a minute")
    const version = versionIn(changed, path)
    expect((await operator.post(path, { "per-minute": "fast", version })).words).toContain(
      "E-mails a minute, or none is not valid",
    )
    expect((await operator.post(path, { "per-minute": "none", version })).words).toContain("no bound of its own")
    expect(await audited("campaigns update")).toMatchObject([{ arguments: { campaign: campaign.id } }])
  })

  it("keeps the rate of another operator, who was first, when an old page or none gives another", async () => {
    const { campaign } = await test().run(seedCampaign({ recipients: 1 }))
    const [one, other] = [await test().as("operator"), await test().as("operator")]
    const path = `/campaigns/${campaign.id}/rate`
    const version = versionIn(await one.get(`/campaigns/${campaign.id}`), path)
    expect((await other.post(path, { "per-minute": "60", version })).status).toBe(200)
    const refused = await one.post(path, { "per-minute": "5000", version })
    expect(refused.status).toBe(409)
    expect(refused.words).toContain("Rate: it is 60, and you gave 5000.")
    expect((await one.post(path, { "per-minute": "5000" })).status).toBe(409)
    expect((await one.get(`/campaigns/${campaign.id}`)).words).toContain("60 a minute")
  })

  it("is cancelled by an admin who types its name", async () => {
    const { campaign } = await test().run(seedCampaign({ recipients: 1 }))
    const path = `/campaigns/${campaign.id}/cancel`
    const reason = "the list was of another program"
    expect((await (await test().as("operator")).post(path, { typed: "Spring", reason })).status).toBe(403)
    const admin = await test().as("admin")
    expect((await admin.get(path)).words).toContain("A cancelled campaign never goes on")
    expect((await admin.post(path, { typed: "Summer", reason })).words).toContain("What was typed is not “Spring”")
    expect(await statusOf(campaign.id)).toBe("draft")
    const refused = await admin.post(path, { page: path, typed: "Summer", reason })
    const typedInto = (name: string) => refused.document.querySelector(`input[name=${name}]`)?.getAttribute("value")
    expect([refused.status, typedInto("reason"), typedInto("typed")]).toEqual([409, reason, "Summer"])
    expect(refused.document.querySelector("#typed-fault")!.textContent).toContain("What was typed is not “Spring”")
    expect(await statusOf(campaign.id)).toBe("draft")
    const cancelled = await admin.post(path, { typed: "Spring", reason })
    expect(cancelled.words).toMatch(/Cancelled by admin \d+ at .*: the list was of another program/)
    expect(await statusOf(campaign.id)).toBe("cancelled")
  })

  it("is cancelled by its name as the page shows it, if nobody can type what stands in it", async () => {
    const { campaign } = await test().run(seedCampaign({ recipients: 1 }))
    await test().run(
      SqlClient.SqlClient.use(
        (sql) => sql`update campaigns set name = ${"Spr\u200bing \u202e2026"} where id = ${campaign.id}`,
      ),
    )
    const path = `/campaigns/${campaign.id}/cancel`
    const admin = await test().as("admin")
    const label = (await admin.get(path)).document.querySelector("label:has(input[name=typed]) span")!.textContent!
    expect(label).toBe(String.raw`Type Spr\u{200b}ing \u{202e}2026`)
    await admin.post(path, { typed: label.slice("Type ".length), reason: "a mistake" })
    expect(await statusOf(campaign.id)).toBe("cancelled")
  })

  it("shows which domain refuses us, why, until when and with which words", async () => {
    const { campaign } = await test().run(seedCampaign({ recipients: 2 }))
    await test().run(
      Effect.gen(function* () {
        yield* importLines(campaign.id, [{ number: 2, npi: npi(70), email: email(70, "refusing.test") }])
        yield* sendCampaign(campaign.id)
        const refused = { _tag: "Refused", status: "550 5.7.1", reply: "550 5.7.1 blocked for now" } as const
        for (const lease of yield* claimMessages(9)) {
          yield* settle(lease, lease.email.endsWith("refusing.test") ? refused : { _tag: "Accepted" })
        }
      }),
    )
    const { words, document } = await (await test().as("viewer")).get(`/campaigns/${campaign.id}`)
    expect(words).toContain("What is wrongA domain refuses us: refusing.test")
    expect(words).toContain("550 5.7.1 blocked for now")
    expect(words).toMatch(/refuses us until \d{4}-/)
    expect(words).toContain("66.7 % answered for · 1 left")
    expect(document.querySelectorAll(".canvas:not(.small) svg.plot")).toHaveLength(2)
    expect(document.querySelectorAll("[style]")).toHaveLength(0)
  })

  it("shows what became of the messages to seeds", async () => {
    const { campaign } = await test().run(seedCampaign({ recipients: 0 }))
    const viewer = await test().as("viewer")
    expect((await viewer.get(`/campaigns/${campaign.id}`)).words).not.toContain("Messages to seeds")
    await test().run(
      Effect.gen(function* () {
        const { add, settle } = yield* SeedRepository
        const { organizationId, id: campaignId } = campaign
        const messages = yield* Effect.forEach(["me@one.test", "me@two.test"], (email) =>
          Effect.map(createSeedId, (id) => ({ organizationId, id, campaignId, email })),
        )
        yield* add(messages)
        yield* settle(messages[0]!, "refused", "550 5.7.1 Blocked")
      }),
    )
    const { document } = await viewer.get(`/campaigns/${campaign.id}`)
    const rows = [...document.querySelectorAll("section[aria-label^='Messages to seeds'] tbody tr")]
    const cells = rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent))
    expect(cells.map(([email, state, , reply]) => [email, state, reply])).toEqual([
      ["me@two.test", "unknown", expect.any(String)],
      ["me@one.test", "refused", "550 5.7.1 Blocked"],
    ])
  })

  it("shows what was accepted and refused later, by cause and domain, and in the clinician's timeline", async () => {
    const { campaign } = await test().run(seedCampaign({ recipients: 2 }))
    const viewer = await test().as("viewer")
    const leases = await test().run(
      Effect.gen(function* () {
        yield* sendCampaign(campaign.id)
        const leases = yield* claimMessages(9)
        for (const lease of leases) yield* settle(lease, { _tag: "Accepted" })
        yield* reportBounce(leases[0]!.recipientId, { _tag: "Refused", status: "550 5.7.1", reply: "550 5.7.1 Listed" })
        yield* reportBounce(leases[1]!.recipientId, { _tag: "Deferred", reply: "451 4.4.1 No answer" })
        return leases
      }),
    )
    const { words, document } = await viewer.get(`/campaigns/${campaign.id}`)
    expect(words).toContain("2 sent, 0 bounced, 2 refused later of 2 imported")
    expect(words).toContain("0 bounced, at once or later; 2 refused later")
    const rows = [...document.querySelectorAll("section[aria-label^='Accepted and refused later'] tbody tr")]
    expect(rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent))).toEqual([
      ["not taken in time", "all", "1"],
      ["policy: what receivers think of us", "all", "1"],
      ["not taken in time", "clinic.test", "1"],
      ["policy: what receivers think of us", "clinic.test", "1"],
    ])
    expect((await viewer.get(`/people/${leases[1]!.recipientId}`)).words).toContain(
      "Refused laterexpired: 451 4.4.1 No answer",
    )
  })
})
