import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { csvRow, disarmFormula } from "@outreach/backoffice/csv/csvRow"
import { reportBounce } from "@outreach/domain/mail/Bounces"
import { Settlements } from "@outreach/domain/mail/Settlements"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { person, seedPerson } from "@outreach/testing/seedPerson"
import { cancelCampaigns, claimMessages, sendCampaign, settleSent } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { runJson, runFailing, run, meanwhile } = commandLine()

const folder = mkdtempSync(join(tmpdir(), "ops-outcomes-"))
afterAll(() => rmSync(folder, { recursive: true }))

let files = 0
const exported = async (campaign: string, ...flags: ReadonlyArray<string>) => {
  const out = join(folder, `${files++}.csv`)
  const report = await runJson("recipients", "export", "--campaign", campaign, "--out", out, ...flags)
  const text = readFileSync(out, "utf8")
  const [head, ...rows] = text
    .trimEnd()
    .split("\r\n")
    .map((row) => row.split(","))
  return { out, report, text, rows: rows.map((row) => Object.fromEntries(head!.map((name, i) => [name, row[i]]))) }
}

const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/

describe("ops recipients export", () => {
  it("writes what became of each recipient, with NPIs and addresses masked, to a file for its owner alone", async () => {
    const { campaign, token } = await meanwhile(seedPerson())
    const { out, report, rows } = await exported(campaign.id)
    expect(report).toEqual({ campaign_id: campaign.id, out, recipients: 3 })
    expect(statSync(out).mode & 0o777).toBe(0o600)
    expect(rows).toHaveLength(3)
    expect(rows.find((row) => row["token"] === token)).toMatchObject({
      npi: "••••••0004",
      email: "c•••@clinic.test",
      state: "refused_later",
      sent_at: expect.stringMatching(TIME),
      bounced_at: "",
      refused_later_at: expect.stringMatching(TIME),
      refusal_cause: "policy",
      last_reply: "250 OK",
      opened_on: "",
      clicked_on: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      complained_at: expect.stringMatching(TIME),
      unsubscribed_at: expect.stringMatching(TIME),
      account_created_at: expect.stringMatching(TIME),
      learner_qualified_at: expect.stringMatching(TIME),
      completer_qualified_at: "",
    })
    // The other recipients have none of these.
    for (const row of rows.filter((row) => row["token"] !== token)) {
      expect(row).toMatchObject({ state: "sent", clicked_on: "", complained_at: "", account_created_at: "" })
    }
  })

  it("names the state of each, why one bounced or was withdrawn, and the mail server's last reply", async () => {
    const campaign = await meanwhile(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* cancelCampaigns
        const { organization, campaign } = yield* seedCampaign({ recipients: 7 })
        yield* sendCampaign(campaign.id)
        const { settle } = yield* Settlements
        const [deferred, ...others] = yield* claimMessages(7)
        yield* settle(
          deferred!,
          { state: "retry", attempts: 1, delaySeconds: 600 },
          { outcome: "deferred", reply: "452 4.2.2 full" },
        )
        yield* settleSent(others[0]!)
        yield* settleSent(others[5]!)
        yield* reportBounce(others[5]!.recipientId, {
          _tag: "Refused",
          status: "5.7.1",
          reply: "550 5.7.1 blocked",
        } as never)
        const [bounced, quarantined, withdrawn, erased] = others.map(({ recipientId }) => recipientId)
        yield* reportBounce(bounced!, { _tag: "Bounced", reason: "mailbox_not_found", reply: "550 5.1.1 no, nobody" })
        yield* sql`update messages set quarantined_at = now(), failure_class = 'x', failure_code = 'y' where recipient_id = ${quarantined!}`
        yield* sql`update recipients set withdrawn_at = now(), withdrawal_reason = 'suppressed' where id = ${withdrawn!}`
        yield* sql`update recipients set erased_at = now(), npi = '0000000001', email = 'erased-1@erased.invalid' where id = ${erased!}`
        return { ...campaign, organizationId: organization.id }
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
    expect(byState["deferred"]).toMatchObject({
      last_reply: "452 4.2.2 full",
      email: expect.stringMatching(/^clinician\d@/),
    })
    expect(byState["bounced"]).toMatchObject({ bounce_reason: "mailbox_not_found", last_reply: `"550 5.1.1 no` })
    expect(byState["refused_later"]).toMatchObject({ refusal_cause: "policy", bounced_at: "" })
    expect(byState["withdrawn"]).toMatchObject({ withdrawal_reason: "suppressed" })
    expect(byState["erased"]).toMatchObject({ npi: "", email: "" })
  })

  it("writes NPIs and addresses in full with --reveal, begins with a mark for Excel with --bom, and is audited", async () => {
    const { campaign } = await meanwhile(seedPerson())
    const { text } = await exported(campaign.id, "--reveal", "--bom")
    expect(text.startsWith("\uFEFFtoken,npi,email,state,")).toBe(true)
    expect(text).toContain(`,${person.npi},${person.email},refused_later,`)
    const { data } = await runJson("audit", "list", "--limit", "1")
    expect(data[0]).toMatchObject({
      command: "recipients export",
      arguments: { campaign: campaign.id, reveal: true, bom: true, out: null },
      result: "succeeded",
    })
  })

  it("overwrites no file, and leaves none when it fails", async () => {
    const { campaign } = await meanwhile(seedCampaign({ recipients: 1 }))
    const { out } = await exported(campaign.id)
    expect(await runFailing("recipients", "export", "--campaign", campaign.id, "--out", out)).toMatchObject({
      code: "unusable_file",
    })
    const other = join(folder, "none.csv")
    const none = `cmp_${"0".repeat(32)}`
    expect(await runFailing("recipients", "export", "--campaign", none, "--out", other)).toMatchObject({
      code: "campaign_not_found",
    })
    expect(existsSync(other)).toBe(false)
    expect((await run(["recipients", "export", "--campaign", campaign.id])).code).toBe(2)
  })
})

describe("a row of CSV", () => {
  it("quotes commas, quotes, line ends and outer spaces, and ends in CRLF", () => {
    expect(csvRow(["a", null, "b,c", 'd"e', "f\ng", " h", ""])).toBe('a,,"b,c","d""e","f\ng"," h",\r\n')
  })

  it.each(["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1"])("disarms the formula %j", (text) => {
    expect(disarmFormula(text)).toBe(`'${text}`)
    expect(disarmFormula(`a${text}`)).toBe(`a${text}`)
  })
})
