import { eraseRecipients } from "@outreach/domain/erasure/Erasures"
import { reportBounce } from "@outreach/domain/mail/returned/Bounces"
import { maskEmail, maskNpi } from "@outreach/domain/recipients/Clinician"
import { email, npi } from "@outreach/testing/seedCampaign"
import { seedSentCampaign } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { beforeAll, expect, it } from "vitest"
import { startConsole, type Visitor } from "../../startConsole.ts"

const test = startConsole()

/** Seeds a campaign that was sent to its recipients, of whom the first bounced. */
const seed = Effect.fnUntraced(function* (recipients: number) {
  const seeded = yield* seedSentCampaign({ recipients })
  const ids = seeded.recipients.map(({ id }) => id)
  yield* reportBounce(ids[0]!, { _tag: "Bounced", reason: "mailbox_disabled", reply: "550 5.2.1 <b>Disabled</b>" })
  return { organizationId: seeded.organization.id, campaignId: seeded.campaign.id, ids }
})

const RECIPIENTS = 55
let seeded: Effect.Success<ReturnType<typeof seed>>
let operator: Visitor
let path: string
beforeAll(async () => {
  seeded = await test().run(seed(RECIPIENTS))
  operator = await test().as("operator", seeded.organizationId)
  path = `/campaigns/${seeded.campaignId}/recipients`
})

const hrefs = (document: Document, selector = "main a") =>
  [...document.querySelectorAll(selector)].map((link) => link.getAttribute("href")!)
const countRows = (document: Document) => document.querySelectorAll("main tbody tr").length

it("links each number of the campaign's page to a list, with the same count", async () => {
  const { document } = await operator.get(`/campaigns/${seeded.campaignId}`)
  const lists = new Set(hrefs(document).filter((href) => href.startsWith(path)))
  expect(lists.size).toBeGreaterThan(7)
  for (const list of lists) expect({ list, status: (await operator.get(list)).status }).toEqual({ list, status: 200 })
  const [sent] = [...document.querySelectorAll("progress + p a")].filter((link) => link.textContent?.endsWith(" sent"))
  expect(sent!.textContent).toBe(`${RECIPIENTS} sent`)
  expect((await operator.get(sent!.getAttribute("href")!)).words).toContain(`Sent: ${RECIPIENTS}`)
})

it("lists each recipient once, page by page", async () => {
  const first = await operator.get(`${path}?outcome=imported`)
  const second = await operator.get(hrefs(first.document, "nav.pager a")[0]!)
  expect([countRows(first.document), countRows(second.document)]).toEqual([50, RECIPIENTS - 50])
  expect(hrefs(second.document, "nav.pager a")).toEqual([])
  const people = [first, second].flatMap(({ document }) => hrefs(document, "main tbody a"))
  expect(new Set(people)).toEqual(new Set(seeded.ids.map((id) => `/people/${id}`)))
  expect((await operator.get(`${path}?after=never,rcp_1`)).status).toBe(400)
})

it("shows the reason of an outcome, masked until an operator shows the personal data", async () => {
  const page = await operator.get(`${path}?outcome=bounced`)
  expect(page.words).toContain("bouncedmailbox disabled: 550 5.2.1 <b>Disabled</b>")
  expect(hrefs(page.document, "main tbody a")).toEqual([`/people/${seeded.ids[0]}`])
  for (const masked of [maskNpi(npi(0)), maskEmail(email(0))]) expect(page.words).toContain(masked)
  const shown = await operator.post(`${path}/show`, { outcome: "bounced", reveal: "true" })
  for (const personal of [npi(0), email(0)]) expect(shown.words).toContain(personal)
  expect(countRows(shown.document)).toBe(1)
})

it("keeps erased recipients in their lists without a name", async () => {
  const { organizationId, campaignId, ids } = await test().run(seed(1))
  await test().run(eraseRecipients(organizationId, [ids[0]!]))
  const admin = await test().as("admin", organizationId)
  const fields = { outcome: "bounced", reveal: "true" }
  const shown = await admin.post(`/campaigns/${campaignId}/recipients/show`, fields)
  expect(shown.words).toContain("erased")
  for (const personal of [npi(0), email(0)]) expect(shown.text).not.toContain(personal)
})
