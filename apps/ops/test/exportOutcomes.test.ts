import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { reportBounce } from "@outreach/domain/mail/Bounces"
import { Settlements } from "@outreach/domain/mail/Settlements"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { person, seedPerson } from "@outreach/testing/seedPerson"
import { cancelCampaigns, claimMessages, sendCampaign, settleSent } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { runJson, runFailing, meanwhile } = commandLine()

const folder = mkdtempSync(join(tmpdir(), "ops-outcomes-"))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
const exporting = (campaign: string, out: string) => ["recipients", "export", "--campaign", campaign, "--out", out]
const exported = async (campaign: string, ...flags: ReadonlyArray<string>) => {
  const out = join(folder, `${files++}.csv`)
  const report = await runJson(...exporting(campaign, out), ...flags)
  const text = readFileSync(out, "utf8")
  const [head, ...rows] = text
    .trimEnd()
    .split("\r\n")
    .map((row) => row.split(","))
  return { out, report, text, rows: rows.map((row) => Object.fromEntries(head!.map((name, i) => [name, row[i]]))) }
}

describe("recipients export", () => {
  it("writes what happened to each recipient, masked, to a new file that only its owner can read", async () => {
    const { campaign, token } = await meanwhile(seedPerson())
    const { out, report, rows } = await exported(campaign.id)
    expect(report).toEqual({ campaign_id: campaign.id, out, recipients: 3 })
    expect(statSync(out).mode & 0o777).toBe(0o600)
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    expect(rows.find((row) => row["token"] === token)).toMatchObject({
      ...{ npi: "••••••0004", email: "c•••@clinic.test", state: "refused_later", last_reply: "250 OK" },
      ...{ sent_at: time, bounced_at: "", refused_later_at: time, refusal_cause: "policy", complained_at: time },
      ...{ opened_on: "", clicked_on: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), unsubscribed_at: time },
      ...{ account_created_at: time, learner_qualified_at: time, completer_qualified_at: "" },
    })
    for (const row of rows.filter((row) => row["token"] !== token)) {
      expect(row).toMatchObject({ state: "sent", clicked_on: "", complained_at: "", account_created_at: "" })
    }
    expect(await runFailing(...exporting(campaign.id, out))).toMatchObject({ code: "unusable_file" })
    const none = join(folder, "none.csv")
    const unknown = await runFailing(...exporting(`cmp_${"0".repeat(32)}`, none))
    expect(unknown).toMatchObject({ code: "campaign_not_found" })
    expect(existsSync(none)).toBe(false)
  })

  it("writes NPIs and addresses with --reveal, and a byte order mark with --bom", async () => {
    const { campaign } = await meanwhile(seedPerson())
    const { text } = await exported(campaign.id, "--reveal", "--bom")
    expect(text.startsWith("\uFEFFtoken,npi,email,state,")).toBe(true)
    expect(text).toContain(`,${person.npi},${person.email},refused_later,`)
    const { data } = await runJson("audit", "list", "--limit", "1")
    expect(data[0]).toMatchObject({ arguments: { campaign: campaign.id, reveal: true, bom: true, out: null } })
  })

  it("writes the state of each recipient, with its reason and the last reply of the mail server", async () => {
    const campaign = await meanwhile(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* cancelCampaigns
        const { campaign } = yield* seedCampaign({ recipients: 7 })
        yield* sendCampaign(campaign.id)
        const { settle } = yield* Settlements
        const [deferred, ...others] = yield* claimMessages(7)
        const retry = { state: "retry", attempts: 1, delaySeconds: 600 } as const
        yield* settle(deferred!, retry, { outcome: "deferred", reply: "452 4.2.2 full" })
        yield* settleSent(others[0]!)
        yield* settleSent(others[5]!)
        const refused = { _tag: "Refused", status: "5.7.1", reply: "550 5.7.1 blocked" } as const
        yield* reportBounce(others[5]!.recipientId, refused)
        const [bounced, quarantined, withdrawn, erased] = others.map(({ recipientId }) => recipientId)
        yield* reportBounce(bounced!, { _tag: "Bounced", reason: "mailbox_not_found", reply: "550 5.1.1 no, nobody" })
        yield* sql`update messages set quarantined_at = now(), failure_class = 'x', failure_code = 'y' where recipient_id = ${quarantined!}`
        yield* sql`update recipients set withdrawn_at = now(), withdrawal_reason = 'suppressed' where id = ${withdrawn!}`
        yield* sql`update recipients set erased_at = now(), npi = '0000000001', email = 'erased-1@erased.invalid' where id = ${erased!}`
        return campaign
      }),
    )
    const { rows } = await exported(campaign.id, "--reveal")
    const byState = Object.fromEntries(rows.map((row) => [row["state"], row]))
    expect(Object.keys(byState).toSorted()).toEqual([
      "bounced",
      "deferred",
      "erased",
      "published",
      "quarantined",
      "refused_later",
      "withdrawn",
    ])
    expect(byState).toMatchObject({
      deferred: { last_reply: "452 4.2.2 full", email: expect.stringMatching(/^clinician\d@/) },
      bounced: { bounce_reason: "mailbox_not_found", last_reply: `"550 5.1.1 no` },
      refused_later: { refusal_cause: "policy", bounced_at: "" },
      withdrawn: { withdrawal_reason: "suppressed" },
      erased: { npi: "", email: "" },
    })
  })
})
