import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { publishChunk } from "@outreach/domain/campaigns/Campaigns"
import { RestoreRepository } from "@outreach/domain/restores/RestoreRepository"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { cancelCampaigns, claimMessages, sendCampaign } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, beforeEach, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { runJson, runFailing, meanwhile } = commandLine()

const folder = mkdtempSync(join(tmpdir(), "ops-restore-"))
afterAll(() => rmSync(folder, { recursive: true }))

const POINT = "2026-01-05T03:10:00.000000Z"

/** Seeds a campaign that is being sent to five recipients, one of which has no message yet. */
const seedSending = Effect.gen(function* () {
  const { campaign, organization } = yield* seedCampaign({ recipients: 5 })
  yield* sendCampaign(campaign.id)
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ id: string }>`
    select id from recipients where organization_id = ${organization.id} order by id`
  const recipients = rows.map(({ id }) => id)
  // As if it had been added to the campaign later than the others: published after the point alone.
  yield* sql`delete from messages where recipient_id = ${recipients[0]!}`
  yield* sql`update recipients set published_at = null where id = ${recipients[0]!}`
  return { campaign, organization, recipients }
})

const claimed = Effect.gen(function* () {
  const leases = yield* claimMessages(100, { leaseSeconds: 1 })
  return leases.map(({ recipientId }) => recipientId as string).sort()
})

const rowsOf = <Row extends object>(
  statement: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<Row>, unknown>,
) => meanwhile(Effect.flatMap(SqlClient.SqlClient, statement))

// Each test has the database for itself.
beforeEach(() => meanwhile(cancelCampaigns))

describe("a restore", () => {
  it("holds every e-mail until it is finished, and sends to nobody that the mail server's log names", async () => {
    const { campaign, organization, recipients } = await meanwhile(seedSending)
    const [before] = await rowsOf<{ last: string }>((sql) => sql`select last from organization_clock`)

    const begun = await runJson("restores", "begin", "--restored-to", POINT, "--margin", "2h")
    expect(begun).toMatchObject({
      state: "restoring",
      restore: { restored_to: POINT, finished_at: null },
      campaigns: [{ id: campaign.id, status_before: "sending", status: "paused", unsent: 5 }],
      partners: [{ id: organization.id, since: before!.last, inbound_from: "2026-01-05T03:05:00.000000Z" }],
    })
    expect(await runJson("campaigns", "show", campaign.id)).toMatchObject({
      stopped_by: null,
      stop_reason: "the database was restored from a backup",
    })
    const [fence] = await rowsOf<{ ahead: number }>(
      (sql) => sql`select extract(epoch from last - clock_timestamp())::int as ahead from organization_clock`,
    )
    expect(fence!.ahead).toBeGreaterThan(7000)
    expect(await runFailing("restores", "begin", "--restored-to", POINT)).toMatchObject({ code: "restore_under_way" })
    expect(await runJson("restores", "show")).toMatchObject({ workers: "paused", fault: "restoring" })
    expect(await runFailing("restores", "finish", "--promoted", "--yes")).toMatchObject({ code: "restore_under_way" })

    // Also a campaign that somebody resumes too early is not sent.
    await meanwhile(Effect.flatMap(CampaignRepository, ({ move }) => move(campaign.id, ["paused"], "sending")))
    expect(await meanwhile(claimed)).toEqual([])
    await meanwhile(Effect.flatMap(CampaignRepository, ({ move }) => move(campaign.id, ["sending"], "paused")))

    expect(await runFailing("restores", "finish", "--resume-campaigns", "--yes")).toMatchObject({
      code: "mail_log_not_read",
    })
    const log = join(folder, "mail.log")
    const [unpublished, postfix, exim, listed, unsent] = recipients
    writeFileSync(
      log,
      [
        `Jan  5 03:11:00 relay postfix/cleanup[99]: 4bXyZ: message-id=<${unpublished}@acme.test>`,
        `Jan  5 03:11:01 relay postfix/cleanup[99]: 4bXyA: message-id=<${postfix}@acme.test>`,
        `Jan  5 03:11:02 relay postfix/qmgr[98]: 4bXyA: from=<bounce-${unsent!.slice(4)}-0@acme.test>, size=1, nrcpt=1`,
        `2026-01-05 03:11:03 1tUdXy-0001-Ab <= bounce@acme.test H=worker P=esmtp S=1 id=${exim}@acme.test`,
        `<${listed}@acme.test>`,
        `<${listed}@acme.test>`,
        `message-id=<rcp_${"0".repeat(32)}@acme.test>`,
        "message-id=<another@else.test>",
      ].join("\n"),
    )
    expect(await runJson("restores", "mark-sent", "--log", log)).toEqual({ marked: 4, known: 0, missing: 1 })
    expect(await runJson("restores", "mark-sent", "--log", log)).toEqual({ marked: 0, known: 4, missing: 1 })
    const events = await rowsOf<{ recipient: string; above: boolean }>(
      (sql) => sql`
        select recipient_id as recipient, emitted_at > fenced_at as above
        from events cross join restored_clocks where type = 'outreach.email_sent' order by recipient_id`,
    )
    expect(events).toEqual([unpublished, postfix, exim, listed].sort().map((recipient) => ({ recipient, above: true })))

    expect(await runFailing("restores", "finish")).toMatchObject({ code: "not_confirmed", count: 1 })
    const finished = await runJson("restores", "finish", "--resume-campaigns", "--yes")
    expect(finished).toMatchObject({ state: "finished", campaigns: [{ status: "sending", unsent: 1 }] })
    expect(finished.partners[0].text).toContain(`since=${before!.last}`)
    expect(await meanwhile(Effect.andThen(publishChunk(), claimed))).toEqual([unsent])
    expect(await runFailing("restores", "finish", "--yes")).toMatchObject({ code: "no_restore_under_way" })
    expect(await runFailing("restores", "mark-sent", "--log", log)).toMatchObject({ code: "no_restore_under_way" })
    // The text for the partners can be read again.
    expect((await runJson("restores", "show")).latest.partners).toEqual(finished.partners)
  })

  it("leaves campaigns paused without a log, for an operator to decide about each", async () => {
    const { campaign } = await meanwhile(seedSending)
    await runJson("restores", "begin", "--restored-to", POINT)
    const { campaigns } = await runJson("restores", "finish", "--yes")
    expect(campaigns).toEqual([expect.objectContaining({ id: campaign.id, status: "paused", unsent: 5 })])
    expect(await meanwhile(claimed)).toEqual([])
    expect(await runJson("campaigns", "resume", campaign.id)).toMatchObject({ status: "scheduled" })
  })

  it("is not begun for a point that has not come, and reads no log that does not exist", async () => {
    expect(await runFailing("restores", "begin", "--restored-to", "2999-01-01T00:00:00Z")).toMatchObject({
      code: "restored_to_future",
    })
    await runJson("restores", "begin", "--restored-to", POINT)
    expect(await runFailing("restores", "mark-sent", "--log", join(folder, "nowhere"))).toMatchObject({
      code: "mail_log_unreadable",
    })
    expect((await runJson("restores", "finish", "--yes")).restore.mail_log_read_at).toBeNull()
  })
})

it("sends nothing from a database that is on another server than the workers saw, until an operator has said that nothing was lost", async () => {
  const { recipients } = await meanwhile(seedSending)
  const standing = () => meanwhile(Effect.flatMap(RestoreRepository, (restores) => restores.standing))
  const { current } = await standing()
  await meanwhile(Effect.flatMap(RestoreRepository, ({ record }) => record(current!)))
  expect(await standing()).toMatchObject({ fault: null, recorded: current })

  // As a promotion does.
  const before = `${current!.split("/")[0]}/00000000`
  await rowsOf((sql) => sql`update database_identity set identity = ${before}`)
  expect(await standing()).toMatchObject({ fault: "moved", recorded: before, current })
  expect(await meanwhile(claimed)).toEqual([])
  expect(await runJson("restores", "show")).toMatchObject({ workers: "paused", fault: "moved" })
  expect(await runFailing("restores", "finish", "--promoted", "--resume-campaigns")).toMatchObject({
    code: "promoted_alone",
  })

  expect(await runJson("restores", "finish", "--promoted", "--yes")).toMatchObject({ fault: null, recorded: current })
  expect(await meanwhile(claimed)).toEqual(recipients.slice(1))
})
