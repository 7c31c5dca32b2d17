import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sendCampaign } from "@outreach/testing/sendCampaign"
import { column } from "@outreach/testing/sql"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { afterAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { runJson, runFailing, meanwhile } = commandLine()

const folder = temporaryFolder("ops-restore", afterAll)

const POINT = "2026-01-05T03:10:00.000000Z"

describe("restores", () => {
  it("start with a pause of the campaigns, read the logs of mail servers, and finish after a confirmation", async () => {
    const { campaign, organization, recipients } = await meanwhile(function* () {
      const { campaign, organization } = yield* seedCampaign({ recipients: 5 })
      yield* sendCampaign(campaign.id)
      const recipients = yield* column<string>`
        select id from recipients where organization_id = ${organization.id} order by id`
      return { campaign, organization, recipients }
    })
    expect(await runFailing("restores", "begin", "--restored-to", "2999-01-01T00:00:00Z")).toMatchObject({
      code: "restored_to_future",
    })
    const begun = await runJson("restores", "begin", "--restored-to", POINT, "--margin", "2h")
    const paused = { id: campaign.id, status_before: "sending", status: "paused", unsent: 5 }
    expect(begun).toMatchObject({
      ...{ state: "restoring", restore: { restored_to: POINT, finished_at: null }, campaigns: [paused] },
      partners: [{ id: organization.id, inbound_from: "2026-01-05T03:05:00.000000Z" }],
    })
    expect(await runJson("restores", "show")).toMatchObject({ workers: "paused", fault: "restoring" })

    const log = join(folder, "mail.log")
    expect(await runFailing("restores", "mark-sent", "--log", log)).toMatchObject({ code: "mail_log_unreadable" })
    const resume = ["restores", "finish", "--resume-campaigns", "--yes"]
    expect(await runFailing(...resume)).toMatchObject({ code: "mail_log_not_read" })
    const [first, postfix, exim, listed, unsent] = recipients
    writeFileSync(
      log,
      [
        `Jan  5 03:11:00 relay postfix/cleanup[99]: 4bXyZ: message-id=<${first}@acme.test>`,
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

    expect(await runFailing("restores", "finish")).toMatchObject({ code: "not_confirmed", count: 1 })
    const finished = await runJson(...resume)
    expect(finished).toMatchObject({ state: "finished", campaigns: [{ status: "sending", unsent: 1 }] })
    expect(finished.partners[0].text).toContain(`since=${begun.partners[0].since}`)
    expect((await runJson("restores", "show")).latest.partners).toEqual(finished.partners)
    expect(await runFailing(...resume)).toMatchObject({ code: "no_restore_under_way" })
  })

  it("accept a promotion after a confirmation, without resuming campaigns", async () => {
    const promoted = ["restores", "finish", "--promoted"]
    expect(await runFailing(...promoted, "--resume-campaigns")).toMatchObject({ code: "promoted_alone" })
    expect(await runFailing(...promoted)).toMatchObject({ code: "not_confirmed" })
    expect(await runJson(...promoted, "--yes")).toMatchObject({ fault: null })
  })
})
