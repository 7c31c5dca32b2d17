import type { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { addDays, dateAt } from "@outreach/domain/digest/DateRange"
import { DigestRepository } from "@outreach/domain/digest/DigestRepository"
import { createIdentifier } from "@outreach/domain/Identifier"
import { updateProgram } from "@outreach/domain/programs/Programs"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { inTransaction } from "@outreach/testing/inTransaction"
import { outreachOn, qualifyOn } from "@outreach/testing/outreachOn"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { startConsole } from "./startConsole.ts"

const test = startConsole()

const TODAY = dateAt(Date.now())
const stamp = (date: CalendarDate) => `${date}T00:00:00.000001Z` as CommitTimestamp

/** An organization with a program that has a target of ten learners and counted one on each day of a week. */
const seed = Effect.gen(function* () {
  const seeded = yield* seedCampaign({ recipients: 0 })
  const { organization, program, campaign } = seeded
  yield* updateProgram(program.id, { learnerTarget: 10 })
  const ann = yield* createIdentifier("recipient")
  for (let ago = 7; ago >= 1; ago--) {
    const at = stamp(addDays(TODAY, -ago))
    yield* outreachOn(at, campaign, [
      [ann, "sent"],
      [ann, "human opened"],
    ])
    const learner = { programId: program.id, stage: "learner_qualified" as const, npi: npi(ago) }
    yield* inTransaction(qualifyOn(organization.id, [learner], at))
  }
  return {
    ...seeded,
    only: `organization=${organization.id}`,
    one: `organization=${organization.id}&program=${program.id}`,
  }
})

let ours: Effect.Success<typeof seed>
let theirs: Effect.Success<typeof seed>
beforeAll(async () => {
  ours = await test().run(seed)
  theirs = await test().run(seed)
})
const tableOf = (document: Document, caption: string) =>
  [...document.querySelectorAll("table")]
    .filter((table) => table.querySelector("caption")?.textContent === caption)
    .flatMap((table) => [...table.querySelectorAll("tbody tr")])
    .map(({ children }) => Array.from(children, ({ textContent }) => textContent))

describe("the digest", () => {
  it("has tables of the days and of the funnel", async () => {
    const viewer = await test().as("viewer")
    const { document } = await viewer.get(`/digest?${ours.one}&from=${addDays(TODAY, -2)}`)
    expect(tableOf(document, "Counts of each day, newest first")).toEqual([
      [TODAY, "0", "0", "0", "0", "0", "0", "0", "0"],
      [addDays(TODAY, -1), "1", "0", "0", "1", "0", "0", "1", "0"],
      [addDays(TODAY, -2), "1", "0", "0", "1", "0", "0", "1", "0"],
    ])
    expect(document.querySelector("[aria-labelledby=quota-learner_qualified]")!.textContent).toMatch(
      /Learners.*Counted7.*Target10.*Remaining3/s,
    )
    expect(tableOf(document, `Clinicians by stage, up to the end of ${TODAY}`)).toEqual([
      ["accounts", "0", "–", "–", ""],
      ["learners", "7", "–", "–", "target 10"],
      ["completers", "0", "–", "0 %", ""],
    ])
  })

  it("links each day to a page with the numbers that the API serves", async () => {
    const viewer = await test().as("viewer")
    const date = addDays(TODAY, -1)
    const { document } = await viewer.get(`/digest?${ours.one}&from=${date}&to=${date}`)
    const link = document.querySelector("td a[href^='/digest/']")!.getAttribute("href")!
    expect(link).toBe(`/digest/${date}?${ours.only}`)
    const day = await viewer.get(link)
    const [record] = await test().run(Effect.flatMap(DigestRepository, ({ read }) => read(ours.organization.id, date)))
    expect(tableOf(day.document, "Clinicians by stage")).toEqual([
      ["account_created", "0", "0", "–", "–", "–"],
      ["learner_qualified", "1", "7", "10", "3", "–"],
      ["completer_qualified", "0", "0", "–", "–", "–"],
    ])
    const counts = tableOf(day.document, "Outreach of the day")
    const { outreach } = record!
    expect(counts.map(([name, all]) => [name, all])).toEqual(
      (["recipients_published", "sent", "bounced", "opened", "clicked"] as const).map((name) => [
        name,
        String(outreach[name]),
      ]),
    )
    expect(counts[3]).toEqual(["opened", "1", "1", "1", "1"])
    expect((await viewer.get(`/digest/9999-12-31?${ours.only}`)).words).toContain("has not begun yet")
    expect((await viewer.get(`/digest/2026-02-30?${ours.only}`)).status).toBe(404)
  })

  it("shows the first program of the first organization by default, and rejects invalid ranges", async () => {
    const viewer = await test().as("viewer")
    const { words } = await viewer.get("/digest")
    expect(words).toContain("Digest of Heart failure")
    expect(words).toContain(ours.program.id)
    expect((await viewer.get(`/digest?program=${theirs.program.id}`)).words).toContain(theirs.organization.id)
    expect((await viewer.get(`/digest?${ours.only}&program=${theirs.program.id}`)).status).toBe(404)
    expect((await viewer.get("/digest?from=2020-01-01")).words).toContain("at most 184 dates")
  })
})

it("recounts at most 31 dates and shows the differences", async () => {
  const operator = await test().as("operator")
  const date = addDays(TODAY, -3)
  const fields = { organization: ours.organization.id, date, to: addDays(TODAY, -1) }
  expect((await operator.post("/digest/verify", fields)).words).toContain("The digest is right for 3 dates")
  await test().run(
    SqlClient.SqlClient.use(
      (sql) => sql`
        update digest_outreach set sent = 5 where organization_id = ${ours.organization.id} and date = ${date}::date`,
    ),
  )
  const { words, document } = await operator.post("/digest/verify", fields)
  expect(words).toContain("1 count differs from the recount")
  expect(tableOf(document, "Counts that differ")).toEqual([[date, ours.program.id, "sent", "5", "1"]])
  await test().run(
    SqlClient.SqlClient.use(
      (sql) => sql`update digest_outreach set sent = 1 where organization_id = ${ours.organization.id} and sent = 5`,
    ),
  )
  const refused = await operator.post("/digest/verify", { ...fields, date: addDays(TODAY, -40), to: TODAY })
  expect([refused.status, refused.words]).toEqual([409, expect.stringContaining("at most 31 dates")])
})
