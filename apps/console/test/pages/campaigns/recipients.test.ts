import { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { RECIPIENT_LISTS } from "@outreach/backoffice/recipients/OutcomeReader"
import { eraseRecipients } from "@outreach/domain/erasure/Erasures"
import { reportBounce } from "@outreach/domain/mail/Bounces"
import { maskEmail } from "@outreach/domain/recipients/maskEmail"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import { email, npi } from "@outreach/testing/seedCampaign"
import { seedSentCampaign } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { startConsole, type Visitor } from "../../startConsole.ts"

const test = startConsole()
const RECIPIENTS = 55

/** Seeds a campaign that was sent to its recipients, of whom the first bounced. */
const seed = Effect.gen(function* () {
  const { organization, campaign, recipients } = yield* seedSentCampaign({ recipients: RECIPIENTS })
  const ids = recipients.map(({ id }) => id)
  yield* reportBounce(ids[0]!, { _tag: "Bounced", reason: "mailbox_disabled", reply: "550 5.2.1 <b>Disabled</b>" })
  return { organizationId: organization.id, campaignId: campaign.id, ids }
})

let seeded: Effect.Success<typeof seed>
let viewer: Visitor
let operator: Visitor
let path: string
beforeAll(async () => {
  seeded = await test().run(seed)
  viewer = await test().as("viewer", seeded.organizationId)
  operator = await test().as("operator", seeded.organizationId)
  path = `/campaigns/${seeded.campaignId}/recipients`
})

const hrefs = (document: Document, selector = "main a") =>
  [...document.querySelectorAll(selector)].map((link) => link.getAttribute("href")!)
const countRows = (document: Document) => document.querySelectorAll("main tbody tr").length

describe("the recipients of a campaign", () => {
  it("stand behind each number of the campaign's page, with the same count", async () => {
    const { document } = await viewer.get(`/campaigns/${seeded.campaignId}`)
    const lists = new Set(hrefs(document).filter((href) => href.startsWith(path)))
    expect(lists.size).toBeGreaterThan(7)
    for (const list of lists) expect({ list, status: (await viewer.get(list)).status }).toEqual({ list, status: 200 })
    const [sent] = [...document.querySelectorAll(".progress a")].filter((link) => link.textContent?.endsWith(" sent"))
    expect(sent!.textContent).toBe(`${RECIPIENTS} sent`)
    expect((await viewer.get(sent!.getAttribute("href")!)).words).toContain(`Sent: ${RECIPIENTS}`)
  })

  it("have a list for every outcome", async () => {
    for (const outcome of Object.keys(RECIPIENT_LISTS)) {
      expect((await viewer.get(`${path}?outcome=${outcome}`)).status).toBe(200)
    }
    expect((await viewer.get(`${path}?outcome=vanished`)).status).toBe(400)
    expect((await viewer.get(`${path}?outcome=complained`)).words).toContain("Complained: 0Nobody.")
  })

  it("are listed page after page, each once", async () => {
    const first = await viewer.get(`${path}?outcome=imported`)
    const second = await viewer.get(hrefs(first.document, "nav.pager a")[0]!)
    expect([countRows(first.document), countRows(second.document)]).toEqual([50, RECIPIENTS - 50])
    expect(hrefs(second.document, "nav.pager a")).toEqual([])
    const people = [first, second].flatMap(({ document }) => hrefs(document, "main tbody a"))
    expect(new Set(people)).toEqual(new Set(seeded.ids.map((id) => `/people/${id}`)))
    expect((await viewer.get(`${path}?before=never~rcp_1`)).status).toBe(400)
  })

  it("say why, and lead to the person", async () => {
    const page = await viewer.get(`${path}?outcome=bounced`)
    expect(countRows(page.document)).toBe(1)
    expect(page.words).toContain("bouncedmailbox disabled: 550 5.2.1 <b>Disabled</b>")
    expect(hrefs(page.document, "main tbody a")).toEqual([`/people/${seeded.ids[0]}`])
    expect(page.words).toContain(maskNpi(npi(0)))
    expect(page.words).toContain(maskEmail(email(0)))
  })

  it("are masked until an operator shows them, which is audited", async () => {
    const { organizationId, campaignId } = seeded
    const masked = await operator.get(`${path}?outcome=bounced`)
    for (const personal of [npi(0), email(0)]) expect(masked.text).not.toContain(personal)
    const fields = { outcome: "bounced", reveal: "true" }
    expect((await viewer.post(`${path}/show`, fields)).status).toBe(403)
    const shown = await operator.post(`${path}/show`, fields)
    for (const personal of [npi(0), email(0)]) expect(shown.words).toContain(personal)
    expect(countRows(shown.document)).toBe(1)
    const [entry] = await test().run(Effect.flatMap(AuditLog.make, (log) => log.list({ organizationId }, 1)))
    expect(entry).toMatchObject({
      command: "recipients export",
      arguments: { campaign: campaignId, ...fields, reveal: true },
      organizations: [organizationId],
    })
  })

  it("stay in their lists without a name once they are erased", async () => {
    const { organizationId, campaignId, ids } = await test().run(seed)
    await test().run(eraseRecipients(organizationId, [ids[0]!]))
    const admin = await test().as("admin", organizationId)
    const list = `/campaigns/${campaignId}/recipients`
    const shown = await admin.post(`${list}/show`, { outcome: "bounced", reveal: "true" })
    expect(shown.words).toContain("erased")
    for (const personal of [npi(0), email(0)]) expect(shown.text).not.toContain(personal)
  })

  it("are not there for another organization", async () => {
    const other = await test().run(seed)
    const stranger = await test().as("admin", other.organizationId)
    expect((await stranger.get(path)).status).toBe(404)
    expect((await stranger.post(`${path}/show`, { reveal: "true" })).status).toBe(404)
  })
})
