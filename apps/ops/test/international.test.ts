import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { claimMessages, sendCampaign } from "@outreach/testing/sendCampaign"
import { SqlClient } from "effect/sql"
import { afterAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { runJson, meanwhile } = commandLine()

const folder = mkdtempSync(join(tmpdir(), "ops-international-"))
afterAll(() => rmSync(folder, { recursive: true }))
const file = (...lines: ReadonlyArray<string>): string => {
  const path = join(folder, "recipients.csv")
  writeFileSync(path, ["npi,email", ...lines].join("\n"))
  return path
}

describe("an international address", () => {
  it("is one address in all its forms: at import, in suppressions, in a search, and by its domain", async () => {
    const { program, campaign, organization } = await meanwhile(seedCampaign({ recipients: 0 }))
    const load = (...lines: ReadonlyArray<string>) =>
      runJson("recipients", "import", "--campaign", campaign.id, "--skip-bad", file(...lines))
    expect(await load(`${npi(1)},JOSÉ@BÜRO.test`)).toMatchObject({ imported: 1 })
    expect(await load(`${npi(1)},jose\u0301@xn--bro-hoa.test`)).toMatchObject({ imported: 0, already_there: 1 })
    expect(await load(`${npi(2)},josé@bu\u0308ro.test`)).toMatchObject({ imported: 0, bad_count: 1 })
    expect(await load(`${npi(3)},anna@büro.test`, `${npi(4)},josé@büro`)).toMatchObject({ imported: 1, bad_count: 1 })

    const find = async (email: string) =>
      (await runJson("recipients", "find", "--reveal", "--email", email)).recipients.map(
        ({ email }: Record<string, string>) => email,
      )
    expect(await find("José@Büro.test")).toEqual(["josé@xn--bro-hoa.test"])
    expect(await find("anna@xn--bro-hoa.test")).toEqual(["anna@xn--bro-hoa.test"])

    // One message a minute to the domain: the other waits, whichever form its address came in.
    await meanwhile(sendCampaign(campaign.id))
    const leases = await meanwhile(claimMessages(10, { perDomainMinute: 1 }))
    expect(leases.map(({ organizationId }) => organizationId)).toEqual([organization.id])
    await meanwhile(SqlClient.SqlClient.use((sql) => sql`update messages set lease_token = null, lease_until = null`))

    const add = ["suppressions", "create", "--program", program.id, "--email"]
    expect(await runJson(...add, "JOSE\u0301@BÜRO.TEST")).toMatchObject({ added: 1, withdrawn: 1 })
    expect(await runJson(...add, "josé@xn--bro-hoa.test")).toMatchObject({ added: 0 })
  })
})
