import { addDays, dateAt } from "@outreach/domain/digest/Digest"
import { createIdentifier } from "@outreach/domain/Identifier"
import { updateProgram } from "@outreach/domain/programs/Programs"
import { addSender, SenderRepository } from "@outreach/domain/senders/Senders"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { generateDkimKeyPair } from "@outreach/mail/dkimKeys"
import { outreachOn, qualifyOn } from "@outreach/testing/outreachOn"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { inTransaction, sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { rowsOf, startConsole } from "../../startConsole.ts"

const test = startConsole()

const seed = () => test().run(seedCampaign({ recipients: 2 }))

describe("a program", () => {
  it("says what lacks for a campaign", async () => {
    const { program } = await seed()
    const viewer = await test().as("viewer")
    const words = async () => (await viewer.get(`/programs/${program.id}`)).words
    expect(await words()).not.toContain("The sender name or postal address is missing")
    await test().run(sql`update programs set sender_name = null where id = ${program.id}`)
    expect(await words()).toContain("The sender name or postal address is missing")
  })

  it("shows its funnel, the progress towards its targets, and the counts of the last days", async () => {
    const { program, organization, campaign } = await seed()
    const today = dateAt(Date.now())
    await test().run(function* () {
      yield* updateProgram(program.id, { learnerTarget: 10 })
      const ann = yield* createIdentifier("recipient")
      for (const ago of [2, 1]) {
        const at = `${addDays(today, -ago)}T00:00:00.000001Z` as CommitTimestamp
        yield* outreachOn(at, campaign, [
          [ann, "sent"],
          [ann, "human opened"],
        ])
        const learner = { programId: program.id, stage: "learner_qualified" as const, npi: npi(ago) }
        yield* inTransaction(qualifyOn(organization.id, [learner], at))
      }
    })
    const page = await (await test().as("viewer")).get(`/programs/${program.id}`)
    expect(page.words).toContain("2 of 10, 8 remaining")
    expect(rowsOf(page, "Clinicians by stage")).toEqual([
      ["accounts", "0", "–", "–", ""],
      ["learners", "2", "–", "–", "target 10"],
      ["completers", "0", "–", "0 %", ""],
    ])
    const days = rowsOf(page, "Last 31 days (UTC)")
    expect(days).toHaveLength(31)
    expect(days.slice(0, 2)).toEqual([
      [today, "0", "0", "0", "0", "0", "0", "0", "0"],
      [addDays(today, -1), "0", "1", "0", "1", "0", "0", "1", "0"],
    ])
  })

  it("shows the sender of its e-mails, and the one that replaces it once it is verified", async () => {
    const { program, organization } = await seed()
    const viewer = await test().as("viewer")
    const add = (address: string, programId: typeof program.id | null) =>
      test().run(function* () {
        const from = { name: "", address }
        const key = yield* generateDkimKeyPair
        return yield* addSender({ organizationId: organization.id, programId, from }, key, null)
      })
    const { id } = await add("all@acme.test", null)
    expect((await viewer.get(`/programs/${program.id}`)).words).toMatch(
      /the deployment’s sender ?Unverified senders ?all@acme/,
    )
    await test().run(Effect.flatMap(SenderRepository, ({ activate }) => activate(id)))
    await add("heart@acme.test", program.id)
    const { words } = await viewer.get(`/programs/${program.id}`)
    expect(words).toMatch(/Sender ?all@acme\.test ?Unverified senders ?heart@acme\.test/)
  })
})
