import { CAMPAIGN_STATUSES } from "@outreach/domain/campaigns/Campaign"
import { PROGRAM_STATUSES } from "@outreach/domain/programs/Program"
import { sql } from "@outreach/testing/sql"
import { Effect, Exit } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { ask } from "../ask.ts"
import { startApi } from "../startApi.ts"
import { type Resources, seedResources } from "./seedResources.ts"

const api = startApi()
let resources: Resources
beforeAll(async () => {
  resources = await seedResources(api())
})

const set = (table: "campaigns" | "programs", id: string, status: string) =>
  api().run(Effect.exit(sql`update ${sql(table)} set status = ${status} where id = ${id}`))
const shown = async (summary: "campaign" | "program") => {
  const target = `/v1/partners/consumer/tokens/${resources.tokens[0]}?expand[]=${summary}`
  const { status, body } = await ask(api(), target, { key: resources.key })
  expect(status).toBe(200)
  return body[summary].status
}

describe.each([
  {
    summary: "campaign",
    table: "campaigns",
    decided: ["draft", "scheduled", "publishing", "published", "sending", "completed", "paused", "cancelled"],
    known: CAMPAIGN_STATUSES,
  },
  {
    summary: "program",
    table: "programs",
    decided: ["draft", "active", "paused", "archived"],
    known: PROGRAM_STATUSES,
  },
] as const)("the status of a $summary", ({ summary, table, decided, known }) => {
  const id = () => (summary === "campaign" ? resources.campaignId : resources.programId)

  it("is shown as it is", async () => {
    for (const status of decided) {
      expect(Exit.isSuccess(await set(table, id(), status))).toBe(true)
      expect(await shown(summary)).toBe(status)
    }
  })

  it("is one of those that were decided, and no other can be stored", async () => {
    expect(known.toSorted()).toEqual(decided.toSorted())
    const before = await shown(summary)
    for (const status of ["", "Draft", "deleted"]) expect(Exit.isFailure(await set(table, id(), status))).toBe(true)
    expect(await shown(summary)).toBe(before)
  })
})
