import { addDays, dateAt } from "@outreach/domain/digest/DateRange"
import { reportComplaint } from "@outreach/domain/mail/Complaints"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { claimMessages, sendCampaign, settleSent } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, meanwhile } = commandLine()

const seed = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const seeded = yield* seedCampaign({ recipients: 3 })
  const [organization, program, campaign] = [seeded.organization.id, seeded.program.id, seeded.campaign.id]
  // A spreadsheet would run this name.
  yield* sql`update programs set name = ${'=HYPERLINK("https://evil.test","Heart")'} where id = ${program}`
  yield* sendCampaign(campaign)
  const leases = yield* claimMessages(2)
  for (const lease of leases) yield* settleSent(lease)
  yield* reportComplaint(leases[0]!.recipientId, "abuse")
  yield* sql`
    insert into campaign_counts (organization_id, campaign_id, hour, sent, bounced)
    select ${organization}, ${campaign}, date_trunc('day', now(), 'UTC') - make_interval(hours => n), 100, 1 from generate_series(1, 24) n`
  yield* sql`
    insert into campaign_domains (organization_id, campaign_id, domain, sent, mailbox_not_found, last_reply, last_reply_at)
    values (${organization}, ${campaign}, 'clinic.test', 90, 10, '-550 5.1.1 No such user', now())
    on conflict (organization_id, campaign_id, domain) do update set sent = 90, mailbox_not_found = 10,
      last_reply = excluded.last_reply, last_reply_at = excluded.last_reply_at`
  return { organization, program, campaign }
})
const TODAY = dateAt(Date.now())
const OF_YESTERDAY = ["--from", addDays(TODAY, -1), "--to", addDays(TODAY, -1)]

let seeded: Effect.Success<typeof seed>
beforeAll(async () => {
  seeded = await meanwhile(seed)
})

describe("numbers show", () => {
  it("shows the numbers of the dates, divided and filtered as the flags say", async () => {
    const { code, stdout } = await run(["numbers", "show"])
    expect(code).toBe(0)
    expect(stdout).toContain(`${TODAY} to ${TODAY} (UTC), by program:`)
    expect(stdout).toMatch(/^in total +3 +2 /m)
    const flags = ["--organization", seeded.organization, "--by", "campaign", ...OF_YESTERDAY]
    expect(await runJson("numbers", "show", ...flags)).toMatchObject({
      total: { sent: 2400, bounced: 24, published: 0 },
      groups: [{ campaign_id: seeded.campaign, sent: 2400, bounced: 24, published: 0 }],
    })
  })

  it("prints CSV in which a spreadsheet runs no formula", async () => {
    const { stdout } = await run(["numbers", "show", ...OF_YESTERDAY, "--output", "csv"])
    const [head, ...rows] = stdout.trimEnd().split("\r\n")
    expect(head).toMatch(/^organization_id,organization,program_id,program,campaign_id,campaign,published,/)
    expect(rows).toEqual([
      expect.stringContaining(
        `${seeded.organization},Acme Health,${seeded.program},"'=HYPERLINK(""https://evil.test"",""Heart"")",,,0,2400,24,0,`,
      ),
    ])
  })
})

describe("bounced-domains list", () => {
  it("shows where e-mails bounce, and the replies of the servers, without personal data", async () => {
    const row = { domain: "clinic.test", sent: 90, bounced: 10, replies: ["-550 5.1.1 No such user"] }
    expect((await runJson("bounced-domains", "list", "--program", seeded.program)).data).toMatchObject([row])
    const { stdout } = await run(["bounced-domains", "list", "--output", "csv"])
    expect(stdout).toContain(",'-550 5.1.1 No such user,")
    for (const personal of [email(0), npi(0)]) expect(stdout).not.toContain(personal)
  })
})
