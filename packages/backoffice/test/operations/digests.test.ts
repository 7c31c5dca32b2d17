import { expect } from "@effect/vitest"
import { type CalendarDate, DigestRepository } from "@outreach/domain/digest/Digest"
import { createIdentifier } from "@outreach/domain/Identifier"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { outreachOn, qualifyOn } from "@outreach/testing/outreachOn"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { inTransaction } from "@outreach/testing/sql"
import { digests } from "../../src/operations/digests.ts"
import { readAll } from "../../src/operations/List.ts"

const { test } = testsOnDatabase()
const date = (text: string) => text as CalendarDate
const stamp = (day: CalendarDate) => `${day}T10:00:00.000000Z` as CommitTimestamp

test("each date of a range equals the digest of that date", function* () {
  const { organization, campaign, program } = yield* seedCampaign({ recipients: 0 })
  const [ann, bob] = [yield* createIdentifier("recipient"), yield* createIdentifier("recipient")]
  yield* outreachOn(stamp(date("2026-02-03")), campaign, [
    [ann, "sent"],
    [bob, "bounced"],
    [ann, "human opened"],
  ])
  yield* outreachOn(stamp(date("2026-02-05")), campaign, [[ann, "bot clicked"]])
  const clinician = (n: number) => ({ programId: program.id, stage: "account_created" as const, npi: npi(n) })
  yield* inTransaction(qualifyOn(organization.id, [clinician(1), clinician(2)], stamp(date("2026-02-03"))))
  yield* inTransaction(qualifyOn(organization.id, [clinician(3)], stamp(date("2026-02-05"))))

  const range = { from: date("2026-02-02"), to: date("2026-02-06") }
  const days = yield* readAll(digests, { organizationId: organization.id, programId: program.id, ...range })
  expect(days.map((day) => day.date)).toEqual([2, 3, 4, 5, 6].map((day) => `2026-02-0${day}`))
  expect(days.map(({ funnel }) => funnel.cumulative.account_created)).toEqual([0, 2, 2, 3, 3])
  for (const day of days) {
    const [record] = yield* (yield* DigestRepository).read(organization.id, day.date)
    expect({ funnel: day.funnel, outreach: day.outreach }).toEqual({
      funnel: record!.funnel,
      outreach: record!.outreach,
    })
  }
})
