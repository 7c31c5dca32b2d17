import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { suppressClinicians } from "@outreach/domain/suppressions/Withdrawals"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

/** Seeds a campaign with three recipients, one of them sent and one withdrawn, a key, and a suppression. */
const seed = Effect.gen(function* () {
  const { campaign, organization, program } = yield* seedCampaign({ recipients: 3 })
  const sql = yield* SqlClient.SqlClient
  yield* sql`update recipients set sent_at = clock_timestamp() where campaign_id = ${campaign.id} and npi = ${npi(0)}`
  yield* sql`
    insert into campaign_count_changes (organization_id, campaign_id, sent, answered)
    values (${organization.id}, ${campaign.id}, 1, 1)`
  yield* suppressClinicians({ programId: program.id }, [{ npi: npi(1), email: null }], "operator")
  const about = { organizationId: organization.id, name: "Nightly", expiresAt: null }
  const { key } = yield* issueKey({ ...about, scopes: ["events:read"] })
  return { campaign: campaign.id, program: program.id, organization: organization.id, key: key.id }
})

type Seeded = Effect.Success<typeof seed>

interface Case {
  readonly args: (seeded: Seeded) => ReadonlyArray<string>
  /** A part of the sentence. */
  readonly says: string
  readonly count: number | null
  readonly state: (seeded: Seeded) => Promise<unknown>
}

const cases: Record<string, Case> = {
  "campaigns cancel": {
    args: ({ campaign }) => ["campaigns", "cancel", campaign],
    says: "cancel “Spring”: 1 of 3 recipients of",
    count: 1,
    state: async ({ campaign }) => (await runJson("campaigns", "show", campaign)).status,
  },
  "keys revoke": {
    args: ({ key }) => ["keys", "revoke", key],
    says: "“Nightly”",
    count: null,
    state: async ({ organization }) =>
      (await runJson("keys", "list", "--organization", organization)).data[0].revoked_at,
  },
}

describe.each(Object.entries(cases))("%s", (_, { args, says, count, state }) => {
  it("changes no data without --yes or a terminal, and prints the planned change in one sentence", async () => {
    const seeded = await meanwhile(seed)
    const before = await state(seeded)
    const { code, stdout, stderr } = await run(args(seeded))
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).toMatch(/^Nothing was done: give --yes to [^\n]+\.\n$/)
    expect(stderr).toContain(says)
    expect(await runFailing(...args(seeded))).toMatchObject({ code: "not_confirmed", count, exit: 1 })
    expect(await state(seeded)).toEqual(before)
    await runJson(...args(seeded), "--yes")
    expect(await state(seeded)).not.toEqual(before)
  })

  it("prompts only on a terminal without --output json, with no as the default", async () => {
    const seeded = await meanwhile(seed)
    const before = await state(seeded)
    for (const key of ["n", "enter"]) expect((await run(args(seeded), {}, key)).code).toBe(1)
    expect((await run([...args(seeded), "--output", "json"], {}, "y")).code).toBe(1)
    expect(await state(seeded)).toEqual(before)
    expect((await run(args(seeded), {}, "y")).code).toBe(0)
    expect(await state(seeded)).not.toEqual(before)
  })
})

it("doesn't prompt for a command that would make no change", async () => {
  const { program, campaign } = await meanwhile(seed)
  const remove = ["suppressions", "remove", "--program", program, "--npi", npi(9), "--reason", "asked"]
  expect(await runJson(...remove)).toMatchObject({ removed: 0 })
  await runJson("campaigns", "cancel", campaign, "--yes")
  expect(await runFailing("campaigns", "cancel", campaign)).toMatchObject({ code: "campaign_not_in_status" })
})
