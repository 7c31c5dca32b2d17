import { RecipientId } from "@outreach/domain/Identifier"
import type { EmailAddress, Npi } from "@outreach/domain/recipients/Clinician"
import type { SuppressionReason } from "@outreach/domain/suppressions/Suppression"
import { applyUnsubscriptions } from "@outreach/domain/suppressions/Unsubscriptions"
import { SuppressionRepository, suppressAddresses } from "@outreach/domain/suppressions/Withdrawals"
import { copyCampaign } from "@outreach/testing/seedCampaign"
import { sql, value } from "@outreach/testing/sql"
import { until } from "@outreach/testing/until"
import type { Effect } from "effect"
import { beforeEach, describe, expect, it } from "vitest"
import { startApi } from "../startApi.ts"
import { links, seedMessages } from "./seedMessages.ts"

const api = startApi()
let seeded: Effect.Success<ReturnType<typeof seedMessages>>
let path: string
beforeEach(async () => {
  seeded = await api().run(seedMessages(1))
  path = links.unsubscribe(seeded.addressees[0]!)
})

const ask = async (target: string, init: RequestInit = {}) => {
  const response = await fetch(api().url + target, init)
  return { status: response.status, headers: response.headers, body: await response.text() }
}
const asked = () =>
  api()
    .run(sql`select from unsubscriptions where organization_id = ${seeded.organization.id}`)
    .then((rows) => rows.length)
/** Applies pending requests. Returns the kinds of the suppressions. */
const suppressed = async () => {
  await api().run(applyUnsubscriptions)
  const [row] = await api().run(sql<{ program: ReadonlyArray<string>; organization: ReadonlyArray<string> }>`
    select array(select kind from suppressions where program_id = ${seeded.program.id} and reason = 'unsubscribed' order by kind) as program,
      array(select kind from suppressions where organization_id = ${seeded.organization.id} and program_id = '' and reason = 'unsubscribed'
        and applied_at is not null order by kind) as organization`)
  return row!
}
/** The request of mail providers for their own button (RFC 8058, 3.2). */
const ONE_CLICK = { method: "POST", body: new URLSearchParams({ "List-Unsubscribe": "One-Click" }) }

describe("the page to unsubscribe", () => {
  it.each(["GET", "HEAD"])("by %s only shows itself", async (method) => {
    const { status, headers } = await ask(path, { method })
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
    expect(Object.fromEntries(headers)).toMatchObject({
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-robots-tag": "noindex, nofollow",
      "content-security-policy": expect.stringContaining("frame-ancestors 'none'"),
    })
    expect(await asked()).toBe(0)
  })

  it.each([
    ["one click", ONE_CLICK],
    ["one click as form data", { method: "POST", body: multipart() }],
    ["the button", { method: "POST", headers: { "Content-Type": "application/x-www-form-urlencoded" } }],
  ])("by %s suppresses the recipient, by NPI and by e-mail address, for the organization", async (_, init) => {
    const { status, body } = await ask(path, init)
    expect([status, body]).toEqual([200, expect.stringContaining("no more e-mails from <b>Acme Health</b>")])
    expect(await suppressed()).toEqual({ program: [], organization: ["email", "npi"] })
    // A second click is applied once.
    await ask(path, init)
    expect([await api().run(applyUnsubscriptions), await api().run(applyUnsubscriptions)]).toEqual([1, 0])
  })

  it("by the program's button suppresses only for the program, until the other is pressed, and shows the choice", async () => {
    const { status, body } = await ask(`${path}?scope=program`, { method: "POST" })
    expect([status, body]).toEqual([200, expect.stringContaining("no more e-mails about <b>Heart failure</b>")])
    expect(await suppressed()).toEqual({ program: ["email", "npi"], organization: [] })
    const ofProgram = (await ask(path)).body
    expect(ofProgram).toContain("no more e-mails about <b>Heart failure</b>")
    expect(ofProgram).toContain(`formaction="?scope=organization">Everything from Acme Health</button>`)
    for (const scope of ["organization", "program"]) await ask(`${path}?scope=${scope}`, { method: "POST" })
    expect(await suppressed()).toEqual({ program: ["email", "npi"], organization: ["email", "npi"] })
    const ofOrganization = (await ask(path)).body
    expect(ofOrganization).toContain("no more e-mails from <b>Acme Health</b>")
    expect(ofOrganization).toContain(`formaction="?scope=none">`)
    expect(ofOrganization).not.toContain("What do you want to unsubscribe from?")
  })

  it.each(["program", "organization"])(
    "lifts what an unsubscription from the %s suppressed, once its button is pressed",
    async (scope) => {
      await ask(`${path}?scope=${scope}`, { method: "POST" })
      expect(Object.values(await suppressed()).flat()).toEqual(["email", "npi"])
      expect((await ask(`${path}?scope=none`)).body).toContain("You are unsubscribed")
      const { status, body } = await ask(`${path}?scope=none`, { method: "POST" })
      expect([status, body]).toEqual([200, expect.stringContaining("You may get e-mails again")])
      expect(await suppressed()).toEqual({ program: [], organization: [] })
      expect(await api().run(applyUnsubscriptions)).toBe(0)
      expect((await ask(path)).body).toContain("What do you want to unsubscribe from?")
      await ask(`${path}?scope=program`, { method: "POST" })
      expect(await suppressed()).toEqual({ program: ["email", "npi"], organization: [] })
    },
  )

  it("keeps suppressions with other reasons: a complaint, an operator or an account", async () => {
    const reasons = () =>
      api().run(sql<{ kind: string; reason: string }>`
        select kind, reason from suppressions where organization_id = ${seeded.organization.id} order by kind, reason`)
    const { email, npi } = seeded.addressees[0]! as unknown as { email: EmailAddress; npi: Npi }
    const { id: organizationId } = seeded.organization
    const add = (programId: typeof seeded.program.id | null, reason: SuppressionReason, kind: "npi" | "email") =>
      SuppressionRepository.use((all) =>
        all.add(
          organizationId,
          [{ programId, npi: kind === "npi" ? npi : null, email: kind === "email" ? email : null }],
          reason,
        ),
      )
    await ask(`${path}?scope=program`, { method: "POST" })
    await suppressed()
    await ask(path, ONE_CLICK)
    await suppressed()
    await api().run(suppressAddresses(organizationId, [email], "complained"))
    expect(await api().run(add(null, "operator", "npi"))).toBe(0)
    await api().run(add(seeded.program.id, "account_created", "npi"))
    await ask(`${path}?scope=none`, { method: "POST" })
    await suppressed()
    expect(await reasons()).toEqual([
      { kind: "email", reason: "complained" },
      { kind: "npi", reason: "account_created" },
      { kind: "npi", reason: "operator" },
    ])
    await ask(path, ONE_CLICK)
    await suppressed()
    await ask(`${path}?scope=none`, { method: "POST" })
    await suppressed()
    expect(await reasons()).toHaveLength(3)
  })

  it("keeps a complaint that mail programs report as an opt-out", async () => {
    await api().run(
      suppressAddresses(seeded.organization.id, [seeded.addressees[0]!.email as EmailAddress], "unsubscribed"),
    )
    await ask(path, ONE_CLICK)
    expect(await suppressed()).toMatchObject({ program: [] })
    await ask(`${path}?scope=none`, { method: "POST" })
    await api().run(applyUnsubscriptions)
    expect(
      await api().run(
        sql`select kind from suppressions where organization_id = ${seeded.organization.id} and program_id = ''`,
      ),
    ).toEqual([{ kind: "email" }])
  })

  it("keeps the suppression while the clinician is unsubscribed by another message's link", async () => {
    const campaignId = await api().run(copyCampaign(seeded.campaign.id))
    const recipientId = await api().run(value<RecipientId>`
      insert into recipients (organization_id, id, campaign_id, program_id, token, npi, email, created_at, updated_at)
      select organization_id, make_id('rcp'), ${campaignId}, program_id, 'other1', npi, upper(email), created_at, updated_at
      from recipients where id = ${seeded.addressees[0]!.id} returning id`)
    const otherPath = links.unsubscribe({ ...seeded.addressees[0]!, recipientId })
    for (const each of [path, otherPath]) await ask(each, ONE_CLICK)
    expect((await suppressed()).organization).toEqual(["email", "npi"])
    await ask(`${path}?scope=none`, { method: "POST" })
    expect((await suppressed()).organization).toEqual(["email", "npi"])
    expect((await ask(otherPath)).body).toContain("You are unsubscribed")
    await ask(`${otherPath}?scope=none`, { method: "POST" })
    expect((await suppressed()).organization).toEqual([])
  })

  it("suppresses no one who resubscribed before it was applied, or never unsubscribed", async () => {
    const back = () => ask(`${path}?scope=none`, { method: "POST" })
    expect([(await back()).status, await asked()]).toEqual([200, 0])
    await ask(path, ONE_CLICK)
    await back()
    expect(await suppressed()).toEqual({ program: [], organization: [] })
    expect(await api().run(applyUnsubscriptions)).toBe(0)
  })

  it("names the sender, the program and the address, which it shows in part", async () => {
    await api().run(
      sql`update programs set sender_name = 'Acme <Education>' where id = ${seeded.program.id} returning 1`,
    )
    const { body } = await ask(path)
    expect(body).toContain("from <b>Acme &#60;Education&#62;</b> about <b>Heart failure</b> at <b>c•••@clinic.test</b>")
    expect(body).toContain(`<button formaction="?scope=organization">Everything from Acme Health</button>`)
    expect(body).toContain(`formaction="?scope=program">Only e-mails about Heart failure</button>`)
    expect(body).not.toContain(seeded.addressees[0]!.email)
  })

  it("shows no data of an erased recipient, and unsubscribes no one", async () => {
    await api().run(
      sql`update recipients set erased_at = clock_timestamp() where id = ${seeded.addressees[0]!.id} returning 1`,
    )
    for (const init of [{}, ONE_CLICK]) {
      const { status, body } = await ask(path, init)
      expect([status, body]).toEqual([200, expect.stringContaining("this sender")])
      expect(body).not.toMatch(/Acme|Heart|clinic/)
    }
    expect(await asked()).toBe(0)
  })

  it("is shown without names while the database cannot tell them", async () => {
    const { status, body } = await api().whileMissing("recipients", () => ask(path))
    expect([status, body]).toEqual([200, expect.stringContaining("Everything from this sender")])
  })

  it.each(["GET", "POST"])("by %s with another link is the page that leads nowhere", async (method) => {
    const [one, ...rest] = path.split("/").at(-1)!
    const wrong = [
      "/unsubscribe/",
      `/unsubscribe/${one === "A" ? "B" : "A"}${rest.join("")}`,
      `${path}A`,
      links.open(seeded.addressees[0]!).replace("/o/", "/unsubscribe/"),
      links.unsubscribe({ ...seeded.addressees[0]!, recipientId: RecipientId.make(`rcp_${"0".repeat(32)}`) }),
    ]
    for (const target of wrong) {
      const { status, body } = await ask(target, { method })
      expect([status, body]).toEqual([404, expect.stringContaining("This link is not valid")])
    }
    expect(await asked()).toBe(0)
  })

  it("returns 503 with a message if the unsubscription could not be stored", async () => {
    const { status, body } = await api().whileMissing("unsubscriptions", () => ask(path, ONE_CLICK))
    expect([status, body]).toEqual([503, expect.stringContaining("You are not unsubscribed yet")])
    await until(api().log, "an unsubscription could not be kept")
    expect(api().log.text).not.toContain(path.split("/").at(-1)!.slice(0, 40))
    expect((await ask(path, ONE_CLICK)).status).toBe(200)
    expect((await ask(path, { method: "DELETE" })).headers.get("allow")).toBe("GET, HEAD, POST, OPTIONS")
  })
})

function multipart(): FormData {
  const form = new FormData()
  form.set("List-Unsubscribe", "One-Click")
  return form
}
