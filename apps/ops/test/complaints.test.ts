import type { RecipientId } from "@outreach/domain/Identifier"
import { ReturnPaths } from "@outreach/domain/mail/ReturnPaths"
import { SmtpSession } from "@outreach/mail/SmtpSession"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { SECRETS_RING } from "@outreach/testing/adaptersFor"
import { reservePort } from "@outreach/testing/reservePort"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { receiveBounces } from "@outreach/worker/mail/receiveBounces"
import { Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, meanwhile } = commandLine()

const TIMEOUTS = { connectMs: 30_000, replyMs: 30_000, dataMs: 30_000, blockMs: 30_000, finalMs: 30_000 }

/** Writes a report in the Abuse Reporting Format about a message with this return path. */
const complaintAbout = (returnPath: string): string =>
  [
    "From: feedback@provider.test",
    "Subject: complaint",
    "MIME-Version: 1.0",
    'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
    "",
    "--b",
    "Content-Type: message/feedback-report",
    "",
    "Feedback-Type: abuse",
    "User-Agent: Provider/1.0",
    "Version: 1",
    "",
    "--b",
    "Content-Type: text/rfc822-headers",
    "",
    `X-Outreach-Message: ${returnPath.slice(0, returnPath.indexOf("@"))}`,
    "--b--",
    "",
  ].join("\r\n")

/** Reports a message to the worker's listener as a mailbox provider does. */
const complain = (port: number, report: string) =>
  Effect.tryPromise(async () => {
    const session = await SmtpSession.open({ host: "127.0.0.1", port, ignoreTLS: true }, TIMEOUTS)
    const envelope = { from: "feedback@provider.test", to: "complaints@bounces.acme.test" }
    await session.send(envelope, Buffer.from(report), () => true)
    session.quit()
  }).pipe(Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 200 }))

it("campaigns show counts a complaint that the bounce listener was told of, however often", async () => {
  const port = await reservePort()
  const campaignId = await meanwhile(
    Effect.gen(function* () {
      const { campaign } = yield* seedCampaign({ recipients: 3 })
      const sql = yield* SqlClient.SqlClient
      const sent = yield* sql<{ id: RecipientId }>`
        update recipients set sent_at = clock_timestamp() where campaign_id = ${campaign.id} returning id`
      yield* sql`
        insert into campaign_count_changes (organization_id, campaign_id, sent, answered)
        select organization_id, id, 3, 3 from campaigns where id = ${campaign.id}`
      const paths = yield* ReturnPaths
      const complaints = Effect.forEach([0, 0, 1], (i) => complain(port, complaintAbout(paths.of(sent[i]!.id))))
      yield* Effect.raceFirst(receiveBounces({ host: "127.0.0.1", port, certificate: null }), complaints)
      return campaign.id
    }).pipe(Effect.provide(ReturnPaths.at("bounces.acme.test").pipe(Layer.provide(NodeTrackingSeal(SECRETS_RING))))),
  )
  expect(await runJson("campaigns", "show", campaignId)).toMatchObject({ progress: { sent: 3, complained: 2 } })
  const { stdout } = await run(["campaigns", "show", campaignId])
  expect(stdout).toMatch(/^complained +2$/m)
  expect(stdout).toContain(
    "Of 3 accepted messages: complaints 66.667 % (fewer than 3, which say nothing), unsubscribed 0 %, refused later 0 %",
  )
})
