import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { addSender } from "@outreach/domain/senders/Senders"
import { generateDkimKeyPair } from "@outreach/mail/dkimKeys"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { startConsole, versionIn } from "../../startConsole.ts"

const test = startConsole()

const seed = () => test().run(seedCampaign({ recipients: 2 }))
const programOf = (id: string) => test().run(Effect.flatMap(ProgramRepository, ({ find }) => find(id as never)))

describe("the programs", () => {
  it("stand with their organization and the sums of their campaigns, and lead to their pages", async () => {
    const { program, organization } = await seed()
    const viewer = await test().as("viewer")
    const { document, words } = await viewer.get(`/programs?organization=${organization.id}`)
    expect(document.querySelector(`tbody a[href="/programs/${program.id}"]`)?.textContent).toBe("Heart failure")
    expect(document.querySelector(`tbody a[href="/partners/${organization.id}"]`)).not.toBeNull()
    expect(words).not.toContain("Add a program")
    const bound = await test().as("operator", organization.id)
    await seed()
    expect((await bound.get("/programs")).document.querySelectorAll("tbody tr")).toHaveLength(1)
  })

  it("are read a page at a time, however many there are", async () => {
    const { organization } = await seed()
    const operator = await test().as("operator", organization.id)
    for (let i = 0; i < 50; i++) await operator.post("/programs/new", { name: `Program ${i}`, slug: `p-${i}` })
    const { document } = await operator.get("/programs")
    expect(document.querySelectorAll("tbody tr")).toHaveLength(50)
    const next = await operator.get(document.querySelector("a[rel=next]")!.getAttribute("href")!)
    expect([...next.document.querySelectorAll("tbody a")].map(({ textContent }) => textContent)).toContain("Program 49")
    expect(next.document.querySelectorAll("tbody tr")).toHaveLength(1)
  })
})

describe("a program", () => {
  it("shows its facts, targets, campaigns with numbers, sender and suppressions, with links to each", async () => {
    const { program, organization, campaign } = await seed()
    const viewer = await test().as("viewer")
    const { document, words } = await viewer.get(`/programs/${program.id}`)
    for (const href of [
      `/partners/${organization.id}`,
      `/campaigns/${campaign.id}`,
      `/digest?organization=${organization.id}&program=${program.id}`,
      `/suppressions?organization=${organization.id}&program=${program.id}`,
    ]) {
      expect(document.querySelector(`main a[href="${href}"]`), href).not.toBeNull()
    }
    expect(words).toContain("heart-failure")
    expect(words).toContain("the deployment’s own")
    expect(words).toContain("0, without a target")
    expect(
      (await viewer.get(`/campaigns/${campaign.id}`)).document.querySelector(`a[href="/programs/${program.id}"]`),
    ).not.toBeNull()
  })

  it("names the sender of its e-mails, and the one that takes over once it is verified", async () => {
    const { program, organization } = await seed()
    const viewer = await test().as("viewer")
    const add = (address: string, programId: typeof program.id | null) =>
      test().run(
        Effect.gen(function* () {
          const from = { name: "", address }
          const key = yield* generateDkimKeyPair
          return yield* addSender({ organizationId: organization.id, programId, from }, key, null)
        }),
      )
    const { id } = await add("all@acme.test", null)
    expect((await viewer.get(`/programs/${program.id}`)).words).toMatch(
      /the deployment’s own ?Once it is verified ?all@acme/,
    )
    await test().run(Effect.flatMap(SenderRepository, ({ activate }) => activate(id)))
    await add("heart@acme.test", program.id)
    const { words } = await viewer.get(`/programs/${program.id}`)
    expect(words).toMatch(/Sender ?all@acme\.test ?Once it is verified ?heart@acme\.test/)
  })

  it("is created, and ends on its page", async () => {
    const { organization } = await seed()
    const operator = await test().as("operator")
    const fields = { organization: organization.id, name: "Stroke", slug: "stroke", "learner-target": "500" }
    const { words, status } = await operator.post("/programs/new", { ...fields, "completer-target": "none" })
    expect(status).toBe(200)
    expect(words).toContain("Added. A campaign is what it sends.")
    expect(words).toContain("It has no sender name or no postal address")
    expect(words).toMatch(/Learners ?0 of 500/)
    const again = await operator.post("/programs/new", { ...fields, page: "/programs/new" })
    expect(again.status).toBe(409)
    expect(again.document.querySelector("input[name=slug]")?.getAttribute("value")).toBe("stroke")
    expect(again.document.querySelector("#slug-fault")?.textContent).toContain("slugs are unique")
    const blank = await operator.post("/programs/new", { ...fields, slug: "two words", page: "/programs/new" })
    expect(blank.document.querySelector("#slug-fault")?.textContent).toContain("1 to 100 letters, digits")
  })

  it("is changed from the page that shows it as it is, and not from an older one", async () => {
    const { program } = await seed()
    const operator = await test().as("operator")
    const path = `/programs/${program.id}`
    const version = versionIn(await operator.get(path), `${path}/update`)
    const fields = { name: "Heart failure 2027", "learner-target": "600", "completer-target": "none", status: "paused" }
    const { words } = await operator.post(`${path}/update`, { ...fields, version })
    expect(words).toContain("Changed.")
    expect(await programOf(program.id)).toMatchObject({
      ...{ name: "Heart failure 2027", status: "paused", learnerTarget: 600, completerTarget: null },
      senderName: program.senderName,
    })
    const older = await operator.post(`${path}/update`, { ...fields, name: "Other", version, page: path })
    expect(older.status).toBe(409)
    expect(older.words).toContain("Somebody changed this after its page was opened")
    expect(await programOf(program.id)).toMatchObject({ name: "Heart failure 2027" })
  })

  it("is archived, shows so, and is taken back by its status", async () => {
    const { program } = await seed()
    const operator = await test().as("operator")
    const path = `/programs/${program.id}`
    expect((await operator.post(`${path}/archive`)).words).toContain("no campaign of it is created or scheduled")
    // A form that leaves the status alone does.
    await operator.post(`${path}/update`, { name: "Renamed" })
    expect(await programOf(program.id)).toMatchObject({ name: "Renamed", status: "archived" })
    await operator.post(`${path}/update`, { status: "active" })
    expect(await programOf(program.id)).toMatchObject({ status: "active" })
  })
})

describe("an organization", () => {
  it("is created by an admin of all organizations, and ends on its page", async () => {
    const admin = await test().as("admin")
    expect((await admin.get("/partners")).document.querySelector('a[href="/partners/new"]')).not.toBeNull()
    const { words, document } = await admin.post("/partners/new", { name: " Northwind " })
    expect(words).toContain("Added. Issue a key and a secret")
    expect(document.querySelector("h1")?.textContent).toBe("Northwind")
    const { organization } = await seed()
    const bound = await test().as("admin", organization.id)
    expect((await bound.get("/partners")).document.querySelector('a[href="/partners/new"]')).toBeNull()
    expect((await bound.get("/partners/new")).status).toBe(404)
    expect((await bound.post("/partners/new", { name: "Mine" })).status).toBe(404)
  })
})
