import { reportBounce } from "@outreach/domain/mail/returned/Bounces"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { claimMessages, resetSending, sendCampaign, sendWith } from "@outreach/testing/sendCampaign"
import { sql, value } from "@outreach/testing/sql"
import { beforeEach, describe, expect, it } from "vitest"
import { startConsole } from "./startConsole.ts"

const test = startConsole()

beforeEach(() => test().run(resetSending))

const statusOf = (id: string) => test().run(value<string>`select status from campaigns where id = ${id}`)

const lastArguments = (command: string) =>
  test().run(sql<{ arguments: object; operator: string }>`
    select arguments, operator from audit_log where command = ${command} order by begun_at desc limit 1`)

describe("a campaign", () => {
  it("shows its preflight, and who paused it and why until it is resumed", async () => {
    const { campaign } = await test().run(seedCampaign({ recipients: 2, opensIn: 3600 }))
    const path = `/campaigns/${campaign.id}`
    const operator = await test().as("operator")
    const { words } = await operator.get(path)
    expect(words).toContain("0 failed")
    expect(words).toContain("The e-mail shows a link to unsubscribe.")
    await operator.post(`${path}/schedule`)
    const reason = "the partner asked to wait"
    const paused = await operator.post(`${path}/pause`, { reason })
    expect(paused.words).toMatch(/Paused by operator \d+ at .*: the partner asked to wait/)
    await operator.post(`${path}/resume`)
    expect((await operator.get(path)).words).not.toContain(reason)
  })

  it("explains why no e-mail goes out, on its page and on Today", async () => {
    const { campaign, organization } = await test().run(seedCampaign({ recipients: 2 }))
    const viewer = await test().as("viewer", organization.id)
    const why = async () => (await viewer.get(`/campaigns/${campaign.id}`)).words
    expect(await why()).toContain("No e-mails are being sent. Draft")
    await test().run(sendCampaign(campaign.id))
    expect(await why()).toContain("No e-mails are being sent. No worker is running")
    expect((await viewer.get("/")).words).toContain("Spring: No worker is running")

    await test().run(sql`insert into delivery_workers values (gen_random_uuid(), now() + interval '1 hour')`)
    const reply = "550 5.7.1 blocked for now"
    for (const lease of await test().run(claimMessages(2))) {
      await test().run(sendWith(lease, { _tag: "Refused", status: "550 5.7.1", reply }))
    }
    expect(await why()).toMatch(
      /No e-mails are being sent. clinic.test rejected our e-mails and is paused until [\d :-]+\. The next/,
    )
    expect(await why()).toContain("ProblemsA domain rejects our e-mails: clinic.test")
    expect(await why()).toContain(reply)
    await test().run(sql`update campaigns set window_start = now() + interval '30 minutes' where id = ${campaign.id}`)
    expect(await why()).toContain("No e-mails are being sent. Its window starts at")
    expect((await viewer.get("/")).words).not.toContain("Spring: ")
    await test().run(sql`delete from delivery_workers`)
  })

  it("is scheduled despite a failed check only if the check is named and the campaign's name typed", async () => {
    const { campaign } = await test().run(seedCampaign({ recipients: 0, opensIn: 3600 }))
    const path = `/campaigns/${campaign.id}/schedule`
    const operator = await test().as("operator")
    expect((await operator.get(`/campaigns/${campaign.id}`)).words).toContain("1 failed")
    const { words, document } = await operator.get(path)
    expect(words).toContain("Preflight checks failed: No recipient is imported.")
    expect(document.querySelector(`form[method="post"][action="${path}"] input[name="force"]`)).not.toBeNull()
    const attempts: ReadonlyArray<readonly [Record<string, string>, number]> = [
      [{}, 409],
      [{ force: "everything" }, 400],
      [{ force: "quota", typed: "Spring" }, 409],
      [{ force: "recipients", typed: "Summer" }, 409],
    ]
    for (const [fields, status] of attempts) expect((await operator.post(path, fields)).status).toBe(status)
    expect(await statusOf(campaign.id)).toBe("draft")
    expect((await operator.post(path, { force: "recipients", typed: "Spring" })).words).toContain("Scheduled")
    expect((await lastArguments("campaigns schedule"))[0]!.arguments).toMatchObject({ force: ["recipients"] })
    expect((await operator.get(path)).words).toContain("is scheduled; this needs it to be draft or paused")
  })

  it("is cancelled by its name as the page shows it, and keeps the typed values otherwise", async () => {
    const { campaign } = await test().run(seedCampaign({ recipients: 1 }))
    await test().run(sql`update campaigns set name = ${"Spr\u200bing \u202e2026"} where id = ${campaign.id}`)
    const path = `/campaigns/${campaign.id}/cancel`
    const admin = await test().as("admin")
    const reason = "the list was of another program"
    const refused = await admin.post(path, { page: path, typed: "Summer", reason })
    const typedInto = (name: string) => refused.document.querySelector(`input[name=${name}]`)?.getAttribute("value")
    expect([refused.status, typedInto("reason"), typedInto("typed")]).toEqual([409, reason, "Summer"])
    expect(refused.document.querySelector("#typed-fault")!.textContent).toContain("The text doesn't match “Spr")
    expect(await statusOf(campaign.id)).toBe("draft")
    const label = (await admin.get(path)).document.querySelector("label:has(input[name=typed]) span")!.textContent!
    expect(label).toBe(String.raw`Type Spr\u{200b}ing \u{202e}2026`)
    const cancelled = await admin.post(path, { typed: label.slice("Type ".length), reason })
    expect(cancelled.words).toMatch(/Cancelled by admin \d+ at .*: the list was of another program/)
    expect(await statusOf(campaign.id)).toBe("cancelled")
  })

  it("shows messages that were accepted and rejected later, by cause and domain", async () => {
    const { campaign } = await test().run(seedCampaign({ recipients: 2 }))
    await test().run(function* () {
      yield* sendCampaign(campaign.id)
      const leases = yield* claimMessages(9)
      for (const lease of leases) yield* sendWith(lease, { _tag: "Accepted" })
      yield* reportBounce(leases[0]!.recipientId, { _tag: "Refused", status: "550 5.7.1", reply: "550 5.7.1 Listed" })
      yield* reportBounce(leases[1]!.recipientId, { _tag: "Deferred", reply: "451 4.4.1 No answer" })
    })
    const { words, document } = await (await test().as("viewer")).get(`/campaigns/${campaign.id}`)
    expect(words).toContain("2 sent, 0 bounced, 2 rejected later of 2 imported")
    expect(document.querySelectorAll(".scroll svg.plot")).toHaveLength(1)
    const rows = [...document.querySelectorAll("section[aria-label^='Rejected later'] tbody tr")]
    expect(rows.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent))).toEqual([
      ["delivery timeout", "all", "1"],
      ["policy or reputation", "all", "1"],
      ["delivery timeout", "clinic.test", "1"],
      ["policy or reputation", "clinic.test", "1"],
    ])
  })
})
