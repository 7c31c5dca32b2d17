import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { startConsole } from "../../startConsole.ts"

const test = startConsole()

/** A campaign that sent 100 e-mails in each hour since yesterday's midnight. */
const seed = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  const { organization, program, campaign } = yield* seedCampaign({ recipients: 0 })
  yield* sql`update organizations set name = ${name} where id = ${organization.id}`
  const { id: organizationId } = organization
  yield* sql`
    insert into campaign_counts (organization_id, campaign_id, hour, published, sent, bounced, opened, unsuspected_opened, complained, unsubscribed)
    select ${organizationId}, ${campaign.id}, hour, 110, 100, 1, 50, 30, 0, 1
    from generate_series(date_trunc('day', now() - interval '1 day', 'UTC'), date_trunc('hour', now(), 'UTC'), interval '1 hour') hour`
  yield* sql`
    insert into digest_funnel_hours values (${organizationId}, ${program.id}, date_trunc('day', now() - interval '1 day', 'UTC'), 3, 2, 1)`
  yield* sql`
    insert into campaign_domains (organization_id, campaign_id, domain, sent, mailbox_not_found, last_reply, last_reply_at)
    values (${organizationId}, ${campaign.id}, 'clinic.test', 90, 10, '550 5.1.1 <script>no such user</script>', now())`
  return { organization, program, campaign }
})

let ours: Effect.Success<ReturnType<typeof seed>>
beforeAll(async () => {
  ours = await test().run(seed("Ours"))
  await test().run(seed("Theirs"))
})

const rowOf = (document: Document, caption: string, name: string) =>
  [...document.querySelectorAll("table")]
    .filter((table) => table.querySelector("caption")?.textContent === caption)
    .flatMap((table) => [...table.querySelectorAll("tbody tr")])
    .map(({ children }) => Array.from(children))
    .find(([first]) => first!.textContent!.startsWith(name))!

const textsOf = (cells: ReadonlyArray<Element>) => cells.map(({ textContent }) => textContent!.trim())

const DAY = "Today and yesterday"

describe("the page of numbers", () => {
  it("shows today and yesterday up to the same hour, with the difference", async () => {
    const viewer = await test().as("viewer")
    const { document } = await viewer.get(`/numbers?organization=${ours.organization.id}`)
    const [, soFar, change, byHour, before, yesterday] = textsOf(rowOf(document, DAY, "Sent"))
    expect(yesterday).toBe("2,400")
    expect([byHour, change]).toEqual([before, "no change"])
    expect(Number(soFar!.replace(",", "")) - Number(byHour!.replace(",", ""))).toBe(100)
    expect(textsOf(rowOf(document, DAY, "Opened")).at(-1)).toBe("720")
    expect(textsOf(rowOf(document, DAY, "Opened, with suspected bots")).at(-1)).toBe("1,200")
    expect(textsOf(rowOf(document, DAY, "Accounts")).at(-1)).toBe("3")
    expect(textsOf(rowOf(document, DAY, "Unsubscribed")).at(-1)).toBe("24")
  })

  it("adds up all organizations, or only those of the operator", async () => {
    const all = await (await test().as("viewer")).get("/numbers")
    expect(textsOf(rowOf(all.document, DAY, "Sent")).at(-1)).toBe("4,800")
    const bound = await test().as("viewer", ours.organization.id)
    const own = await bound.get("/numbers?by=organization")
    expect(textsOf(rowOf(own.document, DAY, "Sent")).at(-1)).toBe("2,400")
    const csv = await bound.get("/numbers/csv?period=yesterday&by=organization")
    expect(csv.text).toContain(",Ours,")
    expect(csv.text).not.toContain("Theirs")
  })

  it("links each number to its list, through the campaigns of a program", async () => {
    const viewer = await test().as("viewer")
    const hrefOf = (cells: ReadonlyArray<Element>, column: number) =>
      cells[column]!.querySelector("a")?.getAttribute("href") ?? null
    const whole = await viewer.get("/numbers")
    const sent = new URL(hrefOf(rowOf(whole.document, DAY, "Sent"), 5)!, "http://console.test")
    const midnight = new Date().toISOString().slice(0, 10)
    expect([sent.pathname, sent.searchParams.get("type")]).toEqual(["/events", "outreach.email_sent"])
    expect(sent.searchParams.get("to")).toBe(`${midnight}T00:00:00.000000Z`)
    expect(hrefOf(rowOf(whole.document, DAY, "Accounts"), 5)).toMatch(/^\/inbox\?state=applied&type=clinician/)
    expect(hrefOf(rowOf(whole.document, DAY, "Unsubscribed"), 5)).toMatch(/^\/suppressions\?reason=unsubscribed&/)
    expect(hrefOf(rowOf(whole.document, DAY, "Complaints"), 5)).toBeNull()

    const ofProgram = await viewer.get(`/numbers?program=${ours.program.id}`)
    const campaigns = hrefOf(rowOf(ofProgram.document, DAY, "Sent"), 5)!
    expect(campaigns).toBe(`/numbers?program=${ours.program.id}&by=campaign&period=yesterday`)
    const { document } = await viewer.get(campaigns)
    const row = rowOf(document, "Yesterday, by campaign", "Spring")
    expect(textsOf(row).slice(1, 4)).toEqual(["2,640", "2,400", "24"])
    expect(hrefOf(row, 3)).toBe(`/campaigns/${ours.campaign.id}/recipients?outcome=bounced`)
  })

  it("shows the domains that bounce most with their servers' replies as text", async () => {
    const viewer = await test().as("viewer")
    const { document, text } = await viewer.get("/numbers")
    const row = textsOf(rowOf(document, "Domains with the most bounces", "clinic.test"))
    expect(row.slice(0, 4)).toEqual(["clinic.test", "20", "10 %", "no such mailbox: 20"])
    expect(row[4]).toContain("550 5.1.1 <script>no such user</script>")
    expect(text).not.toContain("<script>no such")
  })

  it("exports the shown numbers as CSV", async () => {
    const viewer = await test().as("viewer")
    const shown = await viewer.get(`/numbers?organization=${ours.organization.id}&by=campaign&period=yesterday`)
    const links = [...shown.document.querySelectorAll("a[href^='/numbers/csv']")].map(
      (link) => link.getAttribute("href")!,
    )
    expect(links).toHaveLength(2)
    const [numbers, domains] = await Promise.all(links.map((link) => viewer.get(link)))
    expect(numbers!.headers.get("content-type")).toBe("text/csv; charset=utf-8")
    expect(numbers!.headers.get("content-disposition")).toMatch(
      /^attachment; filename="numbers-\d{4}-\d\d-\d\dT\d\d\.csv"$/,
    )
    const rows = numbers!.text.trimEnd().split("\r\n")
    expect(rows).toHaveLength(1 + 8 + 1)
    expect(rows.at(-1)).toContain(
      `,Ours,${ours.program.id},Heart failure,${ours.campaign.id},Spring,2640,2400,24,1200,720,`,
    )
    expect(domains!.text.split("\r\n")[1]).toMatch(/^clinic\.test,90,10,10,0,0,0,0,1,/)
  })
})
