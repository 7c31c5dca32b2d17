import { SenderRepository } from "@outreach/domain/senders/Senders"
import { afterTests } from "@outreach/testing/afterTests"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { dnsServer } from "@outreach/testing/startNameServer"
import { eventually } from "@outreach/testing/until"
import { Effect } from "effect"
import { beforeAll, expect, it } from "vitest"
import { type Answer as Page, startConsole, type Visitor } from "../../startConsole.ts"

type Answer = Parameters<typeof dnsServer>[0][number]

/** The records that the name server knows. */
const records: Array<Answer> = []
const settings: Record<string, string> = { PUBLIC_BASE_URL: "https://api.outreach.test" }
const atEnd = afterTests()
beforeAll(async () => {
  settings["DNS_SERVERS"] = await dnsServer(records, atEnd)
})
const test = startConsole(settings)

const seed = () => test().run(seedCampaign({ recipients: 1 }))
const find = (id: string) => test().run(Effect.flatMap(SenderRepository, (all) => all.find(id as never)))

const add = async (admin: Visitor, organization: string, fields: Record<string, string> = {}) => {
  const page = await admin.post("/senders/new", { organization, from: "Acme Health <outreach@acme.test>", ...fields })
  const href = page.document.querySelector("form[action$='/verify']")?.getAttribute("action")
  return { page, path: href?.replace("/verify", "") ?? "", id: href?.split("/")[2] ?? "" }
}

/** Publishes the records that a sender's page shows. */
const publish = ({ document }: Page) => {
  const lines = [...document.querySelectorAll("td code.line")].map(({ textContent }) => textContent ?? "")
  const shown = lines.map((line): Answer => {
    const [, name = "", type, value = ""] = /^(\S+)\. IN (TXT|MX|CNAME) (.*)$/.exec(line) ?? []
    if (type === "MX") return { type, name, data: { preference: 10, exchange: "mx.acme.test" } }
    return {
      type: "TXT",
      name,
      data: [...value.matchAll(/"([^"]*)"/g)].map(([, text]) => text!.replace(/<.*>/, "mailto.test")),
    }
  })
  records.splice(0, records.length, ...shown)
  return lines
}

const untilLookedUp = (visitor: Visitor, path: string) =>
  eventually(
    () => visitor.get(path),
    ({ words }) => !words.includes("Looking up the DNS records"),
  )

it("a sender shows the records to publish and the results of DNS, and is live once it is verified", async () => {
  records.length = 0
  const { organization, campaign, program } = await seed()
  const admin = await test().as("admin")
  const { page, path, id } = await add(admin, organization.id, { "bounce-domain": "bounces.acme.test", ramp: "20,40" })
  expect(page.words).toContain("Added. Publish its DNS records")
  const missing = await untilLookedUp(admin, path)
  expect(missing.words).toMatch(/There is no DKIM record at s\d{8}-[0-9a-f]{4}\._domainkey\.acme\.test/)
  expect(missing.words).toContain("day 1 of 2: 0 of 20 sent")
  expect(missing.text).not.toContain("PRIVATE")

  const refused = await admin.post(`${path}/verify`, { page: path })
  expect(refused.status).toBe(409)
  expect(refused.words).toContain("checks of 4 failed")
  expect(await find(id)).toMatchObject({ liveSince: null })

  expect(publish(missing)).toHaveLength(4)
  const verified = await admin.post(`${path}/verify`)
  expect(verified.words).toContain("Verified. Within a minute, workers use the sender")
  expect(verified.document.querySelector(`a[href="/campaigns/${campaign.id}"]`)?.textContent).toBe("Spring")
  expect(await find(id)).toMatchObject({ liveSince: expect.any(String) })

  const from = "Acme Health <outreach@acme.test>"
  for (const address of [`/campaigns/${campaign.id}`, `/programs/${program.id}`, "/senders"]) {
    expect((await admin.get(address)).document.querySelector(`a[href="${path}"]`)?.textContent, address).toBe(from)
  }
})
