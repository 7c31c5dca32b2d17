import { addDays, dateAt } from "@outreach/domain/digest/Digest"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { startConsole } from "../../startConsole.ts"

const test = startConsole()

/** A campaign that sent 100 e-mails in each hour since yesterday's midnight. */
const seed = Effect.fnUntraced(function* (name: string) {
  const { organization, program, campaign } = yield* seedCampaign({ recipients: 0 })
  yield* sql`update organizations set name = ${name} where id = ${organization.id}`
  const { id: organizationId } = organization
  yield* sql`
    insert into campaign_counts (organization_id, campaign_id, hour, published, sent, bounced, opened, unsuspected_opened, complained, unsubscribed)
    select ${organizationId}, ${campaign.id}, hour, 110, 100, 1, 50, 30, 0, 1
    from generate_series(date_trunc('day', now() - interval '1 day', 'UTC'), date_trunc('hour', now(), 'UTC'), interval '1 hour') hour`
  yield* sql`
    insert into digest_funnel values (${organizationId}, ${program.id}, (now() at time zone 'UTC')::date - 1, 3, 2, 1, 3, 2, 1)`
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

const TODAY = dateAt(Date.now())
const YESTERDAY = addDays(TODAY, -1)
const OF_YESTERDAY = `from=${YESTERDAY}&to=${YESTERDAY}`

describe("the page of numbers", () => {
  it("shows the numbers of a period with their percentages, in total and by program", async () => {
    const viewer = await test().as("viewer")
    const { document } = await viewer.get(`/numbers?organization=${ours.organization.id}&${OF_YESTERDAY}`)
    const total = textsOf(rowOf(document, `${YESTERDAY}, by program`, "Total"))
    expect(total.slice(1, 5)).toEqual(["2,640", "2,400", "241 %", "720 (1,200)30 %"])
    expect(total.slice(6)).toEqual(["3", "2", "1", "0", "241 %"])
    expect(textsOf(rowOf(document, `${YESTERDAY}, by program`, "Heart failure")).slice(1)).toEqual(total.slice(1))
    const bound = await (await test().as("viewer", ours.organization.id)).get(`/numbers?${OF_YESTERDAY}`)
    expect(textsOf(rowOf(bound.document, `${YESTERDAY}, by program`, "Total"))).toEqual(total)
    const today = await viewer.get(`/numbers?organization=${ours.organization.id}`)
    expect(Number(textsOf(rowOf(today.document, `${TODAY}, by program`, "Total"))[2]!.replace(",", "")) % 100).toBe(0)
  })

  it("links to days, weeks and months", async () => {
    const { document } = await (await test().as("viewer")).get("/numbers?by=campaign")
    const links = [...document.querySelectorAll("nav[aria-label=Periods] a")]
    expect(links.map(({ textContent }) => textContent)).toEqual([
      ...["Today", "Yesterday", "This week", "Last week", "This month", "Last month"],
    ])
    expect(links[1]!.getAttribute("href")).toBe(`/numbers?by=campaign&${OF_YESTERDAY}`)
    const lastWeek = new URL(links[3]!.getAttribute("href")!, "http://console.test").searchParams
    const [from, to] = [lastWeek.get("from")!, lastWeek.get("to")!]
    expect([new Date(from).getUTCDay(), new Date(to).getUTCDay()]).toEqual([1, 0])
  })

  it("links each number to its list, through the campaigns of a program", async () => {
    const viewer = await test().as("viewer")
    const hrefOf = (cells: ReadonlyArray<Element>, column: number) =>
      cells[column]!.querySelector("a")?.getAttribute("href") ?? null
    const whole = await viewer.get(`/numbers?${OF_YESTERDAY}`)
    const total = rowOf(whole.document, `${YESTERDAY}, by program`, "Total")
    const sent = new URL(hrefOf(total, 2)!, "http://console.test")
    expect([sent.pathname, sent.searchParams.get("type")]).toEqual(["/events", "outreach.email_sent"])
    expect(sent.searchParams.get("to")).toBe(`${TODAY}T00:00:00Z`)
    expect(hrefOf(total, 6)).toMatch(/^\/inbox\?applied=yes&type=clinician/)
    expect(hrefOf(total, 10)).toMatch(/^\/suppressions\?reason=unsubscribed&/)
    expect(hrefOf(total, 9)).toBeNull()

    const ofProgram = await viewer.get(`/numbers?program=${ours.program.id}&${OF_YESTERDAY}`)
    const campaigns = hrefOf(rowOf(ofProgram.document, `${YESTERDAY}, by program`, "Total"), 2)!
    expect(campaigns).toBe(`/numbers?program=${ours.program.id}&by=campaign&${OF_YESTERDAY}`)
    const { document } = await viewer.get(campaigns)
    const row = rowOf(document, `${YESTERDAY}, by campaign`, "Spring")
    expect(textsOf(row).slice(1, 4)).toEqual(["2,640", "2,400", "241 %"])
    expect(hrefOf(row, 3)).toBe(`/campaigns/${ours.campaign.id}/recipients?outcome=bounced`)
  })

  it("shows the domains that bounce most with their servers' replies as text", async () => {
    const viewer = await test().as("viewer")
    const { document, text } = await viewer.get("/numbers")
    const row = textsOf(rowOf(document, "Domains with the most bounces", "clinic.test"))
    expect(row.slice(0, 4)).toEqual(["clinic.test", "20", "10 %", "20 no such mailbox"])
    expect(row[4]).toContain("550 5.1.1 <script>no such user</script>")
    expect(text).not.toContain("<script>no such")
  })

  it("exports the shown numbers as CSV", async () => {
    const viewer = await test().as("viewer")
    const shown = await viewer.get(`/numbers?organization=${ours.organization.id}&by=campaign&${OF_YESTERDAY}`)
    const links = [...shown.document.querySelectorAll("a[href^='/numbers/csv']")].map(
      (link) => link.getAttribute("href")!,
    )
    expect(links).toHaveLength(2)
    const [numbers, domains] = await Promise.all(links.map((link) => viewer.get(link)))
    expect(numbers!.headers.get("content-type")).toBe("text/csv; charset=utf-8")
    expect(numbers!.headers.get("content-disposition")).toBe(
      `attachment; filename="numbers-${YESTERDAY}-${YESTERDAY}.csv"`,
    )
    const rows = numbers!.text.trimEnd().split("\r\n")
    expect(rows).toHaveLength(1 + 1)
    expect(rows.at(-1)).toContain(
      `,Ours,${ours.program.id},Heart failure,${ours.campaign.id},Spring,2640,2400,24,1200,720,`,
    )
    expect(domains!.text.split("\r\n")[1]).toMatch(/^clinic\.test,90,10,10,0,0,0,0,1,/)
  })
})
