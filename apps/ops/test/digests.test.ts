import { createIdentifier } from "@outreach/domain/Identifier"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { outreachOn, qualifyOn } from "@outreach/testing/outreachOn"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { inTransaction } from "@outreach/testing/sql"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()
const STAMP = "2026-02-03T10:00:00.000000Z"

let org: string
let programId: string
beforeAll(() =>
  meanwhile(function* () {
    const { organization, campaign } = yield* seedCampaign({ recipients: 0 })
    org = organization.id
    programId = campaign.programId
    const sql = yield* SqlClient.SqlClient
    yield* sql`update programs set learner_target = 3 where id = ${programId}`
    const [ann, bob] = [yield* createIdentifier("recipient"), yield* createIdentifier("recipient")]
    yield* outreachOn(STAMP, campaign, [
      [ann, "sent"],
      [bob, "sent"],
      [ann, "human opened"],
      [ann, "bot opened"],
      [bob, "bot clicked"],
    ])
    const reach = (stage: "account_created" | "learner_qualified", count: number) =>
      Array.from({ length: count }, (_, n) => ({ programId: campaign.programId, stage, npi: npi(n) }))
    const clinicians = [...reach("account_created", 8), ...reach("learner_qualified", 3)]
    yield* inTransaction(qualifyOn(organization.id, clinicians, STAMP as CommitTimestamp))
  }),
)

const show = (date: string) => ["digests", "show", "--organization", org, date]

describe("digests show", () => {
  it("prints the funnel as a table with bars, and the outreach, of each program", async () => {
    const { stdout, code } = await run(show("2026-02-03"))
    expect(code).toBe(0)
    expect(stdout).toBe(`Heart failure (heart-failure, active)
${programId} on 2026-02-03 UTC

funnel               date  cumulative  target  when_reached      reached_at
account_created      8     8           –       –                 –                        ██████████████████████████████ 100%
learner_qualified    3     3           3       outreach goes on  2026-02-03 10:00:00 UTC  ███████████░░░░░░░░░░░░░░░░░░░ 37%
completer_qualified  0     0           –       –                 –                        ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ 0%

outreach              all  unique  without_bots  unique
recipients_published  0    –       –             –
sent                  2    –       –             –
bounced               0    –       –             –
opened                2    1       1             1
clicked               1    1       0             0
`)
  })

  it("prints one value in the names of the wire with --output json", async () => {
    const { date, data } = await runJson(...show("2026-02-04"))
    expect([date, data.length]).toEqual(["2026-02-04", 1])
    expect(data[0]).toMatchObject({
      program: { id: programId, learner_target: 3 },
      funnel: { date: { learner_qualified: 0 }, cumulative: { account_created: 8, learner_qualified: 3 } },
      outreach: { sent: 0, without_suspected_bots: { unique_opened: 0 } },
      quota: { learner_qualified: { target: 3, count: 3, remaining: 0, reached_at: STAMP } },
    })
  })

  it("rejects a date in the future, or that doesn't exist, and shows that there are no programs", async () => {
    expect(await runFailing(...show("9999-12-31"))).toMatchObject({ code: "date_in_future", exit: 1 })
    expect(await runFailing(...show("2026-02-30"))).toMatchObject({ code: "usage", exit: 2 })
    const stranger = "org_00000000000070008000000000000000"
    expect((await run(["digests", "show", "--organization", stranger, "2026-02-03"])).stdout).toBe("None.\n")
  })
})

describe("digests list", () => {
  const of = () => ["--organization", org, "--program", programId]

  it("shows each date of a range in a row", async () => {
    const { stdout } = await run(["digests", "list", ...of(), "--from", "2026-02-02", "--to", "2026-02-04"])
    expect(stdout).toContain("2026-02-03  0                     2     0        2       1        8         3         0")
  })

  it.each(["2026-02-02", "2030-01-01"])("rejects a range from 2026-02-03 to %s", async (to) => {
    const refused = await runFailing("digests", "list", ...of(), "--from", "2026-02-03", "--to", to)
    expect(refused).toMatchObject({ exit: 1 })
  })
})
