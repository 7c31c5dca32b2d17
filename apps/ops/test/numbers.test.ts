import type { RecipientId } from "@outreach/domain/Identifier"
import { reportComplaint } from "@outreach/domain/mail/Complaints"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { claimMessages, sendCampaign, settleSent } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, meanwhile } = commandLine()

let organization: string
let program: string
let campaign: string
beforeAll(() =>
  meanwhile(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const seeded = yield* seedCampaign({ recipients: 3 })
      ;[organization, program, campaign] = [seeded.organization.id, seeded.program.id, seeded.campaign.id]
      // What a spreadsheet would run.
      yield* sql`update programs set name = ${'=HYPERLINK("https://evil.test","Heart")'} where id = ${program}`
      yield* sendCampaign(seeded.campaign.id)
      const leases = yield* claimMessages(2)
      for (const lease of leases) yield* settleSent(lease)
      yield* reportComplaint(leases[0]!.recipientId as RecipientId, "abuse")
      // A campaign of yesterday, all day long.
      yield* sql`
        insert into campaign_counts (organization_id, campaign_id, hour, sent, bounced)
        select ${organization}, ${campaign}, date_trunc('day', now(), 'UTC') - make_interval(hours => n), 100, 1 from generate_series(1, 24) n`
      yield* sql`
        insert into campaign_domains (organization_id, campaign_id, domain, sent, mailbox_not_found, last_reply, last_reply_at)
        values (${organization}, ${campaign}, 'clinic.test', 90, 10, '-550 5.1.1 No such user', now())
        on conflict (organization_id, campaign_id, domain) do update set sent = 90, mailbox_not_found = 10,
          last_reply = excluded.last_reply, last_reply_at = excluded.last_reply_at`
    }),
  ),
)

describe("numbers show", () => {
  it("shows the numbers of each period, and those of one by program", async () => {
    const { stdout, code } = await run(["numbers", "show"])
    expect(code).toBe(0)
    const line = (name: string) =>
      stdout
        .split("\n")
        .find((each) => each.startsWith(`${name} `))
        ?.split(/ {2,}/)
    expect([line("published")![1], line("sent")![1], line("complained")![1]]).toEqual(["3", "2", "1"])
    expect(line("sent")![5]).toBe("2400")
    expect(stdout).toContain("Today so far, by program:")
    expect(stdout).toContain("A day begins at midnight in UTC")
  })

  it("says the same to scripts, filtered by organization and program", async () => {
    const shown = await runJson(
      "numbers",
      "show",
      "--organization",
      organization,
      "--by",
      "campaign",
      "--period",
      "yesterday",
    )
    expect(shown).toMatchObject({
      totals: { today: { published: 3, sent: 2, complained: 1 }, yesterday: { sent: 2400, bounced: 24 } },
      groups: [{ campaign_id: campaign, sent: 2400, bounced: 24, published: 0 }],
    })
    const other = await runJson("numbers", "show", "--program", "pgm_00000000000000000000000000000000")
    expect(other).toMatchObject({ totals: { yesterday: { sent: 0 } }, groups: [] })
  })

  it("prints CSV whose texts no spreadsheet runs as a formula", async () => {
    const { stdout } = await run(["numbers", "show", "--period", "yesterday", "--output", "csv"])
    const [head, ...rows] = stdout.trimEnd().split("\r\n")
    expect(head).toBe(
      "period,from,to,organization_id,organization,program_id,program,campaign_id,campaign,published,sent,bounced,opened,unsuspected_opened,clicked,unsuspected_clicked,accounts,learners,completers,complained,unsubscribed",
    )
    expect(rows.map((row) => row.split(",")[0])).toEqual([
      ...["today", "today_by_hour", "yesterday_by_hour", "yesterday"],
      ...["this_week", "this_week_by_hour", "last_week_by_hour", "last_week", "yesterday"],
    ])
    expect(rows.at(-1)).toMatch(
      `,${organization},Acme Health,${program},"'=HYPERLINK(""https://evil.test"",""Heart"")",,,0,2400,24,0,`,
    )
    expect(rows[0]).toMatch(/^today,\d{4}-\d\d-\d\d 00:00:00,\d{4}-\d\d-\d\d 00:00:00,,,,,,,3,2,0,/)
  })
})

describe("bounced-domains list", () => {
  it("shows where e-mails bounce, and what the servers replied, for people, scripts and spreadsheets", async () => {
    expect((await run(["bounced-domains", "list"])).stdout).toContain("clinic.test")
    expect(await runJson("bounced-domains", "list", "--program", program)).toMatchObject({
      data: [
        { domain: "clinic.test", sent: 90, bounced: 10, mailbox_not_found: 10, replies: ["-550 5.1.1 No such user"] },
      ],
    })
    const { stdout } = await run(["bounced-domains", "list", "--output", "csv"])
    expect(stdout).toContain(",'-550 5.1.1 No such user,")
    expect(stdout).not.toContain(email(0))
    expect(stdout).not.toContain(npi(0))
  })
})
