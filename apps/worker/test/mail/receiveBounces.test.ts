import { createServer } from "node:net"
import { describe, expect, it } from "@effect/vitest"
import type { RecipientId } from "@outreach/domain/Identifier"
import { ReturnPaths } from "@outreach/domain/mail/ReturnPaths"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { SECRETS_RING } from "@outreach/testing/adaptersFor"
import { listen } from "@outreach/testing/listen"
import { Effect, Layer, References } from "effect"
import { createTransport } from "nodemailer"
import { onTestFinished } from "vitest"
import { receiveBounces } from "../../src/mail/receiveBounces.ts"
import { deliveryReport } from "../deliveryReport.ts"
import { journey } from "../journey.ts"
import { partner } from "../partner.ts"
import { smtpDialogue } from "../smtpDialogue.ts"

const { run, launch, query } = journey()
const paths = ReturnPaths.at("bounces.acme.test").pipe(Layer.provide(NodeTrackingSeal(SECRETS_RING)))
const returnPath = (recipientId: string) =>
  Effect.runSync(ReturnPaths.pipe(Effect.provide(paths))).of(recipientId as RecipientId)

/** Receives bounces until the test is finished; returns the port. */
const startReceiver = async (): Promise<number> => {
  const probe = createServer()
  const port = await listen(probe)
  probe.close()
  const stop = new AbortController()
  const stopped = run(
    Effect.raceFirst(
      receiveBounces({ host: "127.0.0.1", port }).pipe(
        Effect.provide(paths),
        Effect.provideService(References.MinimumLogLevel, "None"),
        Effect.orDie,
      ),
      Effect.callback<void>((resume) => stop.signal.addEventListener("abort", () => resume(Effect.void))),
    ),
  )
  onTestFinished(() => {
    stop.abort()
    return stopped
  })
  return port
}

/** Receives bounces until the test is finished; returns how to send one, which returns the reply. */
const receiver = async () => {
  const transport = createTransport({ host: "127.0.0.1", port: await startReceiver(), ignoreTLS: true })
  return (to: string, raw: string, from = "") =>
    transport.sendMail({ envelope: { from, to: [to] }, raw }).then(
      ({ response }) => response,
      (error: { response?: string }) => error.response,
    )
}

const failed = (status: string, diagnostic: string) =>
  deliveryReport(
    `Final-Recipient: rfc822; x@clinic.test\r\nAction: failed\r\nStatus: ${status}\r\nDiagnostic-Code: smtp; ${diagnostic}\r\n`,
  )

/** Launches a campaign of one, whose message was sent. */
const sent = async (at: string | null = "now") => {
  const { campaign } = await launch(await partner(), 1)
  const [recipient] = await query<{ id: string }>(
    (sql) => sql`update recipients set sent_at = ${at}::timestamptz where campaign_id = ${campaign.id} returning id`,
  )
  const outcome = async () => {
    const [row] = await query<{ bounced: boolean; reasons: ReadonlyArray<string> | null; pauses: number }>(
      (sql) => sql`
        select bounced_at is not null as bounced,
          (select array_agg(body::jsonb -> 'data' ->> 'bounce_reason') from events where recipient_id = recipient.id) as reasons,
          (select count(*)::int from domain_pauses where campaign_id = recipient.campaign_id) as pauses
        from recipients recipient where id = ${recipient!.id}`,
    )
    return row
  }
  return { id: recipient!.id, campaignId: campaign.id, to: returnPath(recipient!.id), outcome }
}

describe("a bounce of a message that was sent", () => {
  it("marks the recipient once, however often it is reported, and publishes the event", async () => {
    const send = await receiver()
    const { to, outcome } = await sent()
    const report = failed("5.1.1", "550 5.1.1 No such user")
    expect(await send(to, report)).toMatch(/^250/)
    expect(await send(to.toUpperCase(), report, "mailer-daemon@mx.test")).toMatch(/^250/)
    expect(await outcome()).toEqual({ bounced: true, reasons: ["mailbox_not_found"], pauses: 0 })
  })

  it("that the relay gave up after deferrals is one for other reasons", async () => {
    const send = await receiver()
    const { to, outcome } = await sent()
    expect(await send(to, failed("4.4.7", "451 4.2.2 Mailbox full"))).toMatch(/^250/)
    expect(await outcome()).toEqual({ bounced: true, reasons: ["other"], pauses: 0 })
  })

  it("that is about us pauses the domain and marks nobody", async () => {
    const send = await receiver()
    const { to, outcome } = await sent()
    expect(await send(to, failed("5.7.1", "550 5.7.1 Blocked"))).toMatch(/^250/)
    expect(await outcome()).toEqual({ bounced: false, reasons: null, pauses: 1 })
  })

  it("is asked for again later when it is faster than our own record", async () => {
    const send = await receiver()
    const { to, id, outcome } = await sent(null)
    await query(
      (sql) => sql`
      insert into messages (organization_id, recipient_id, campaign_id, due_at)
      select organization_id, id, campaign_id, 'now' from recipients where id = ${id}`,
    )
    expect(await send(to, failed("5.1.1", "550 5.1.1 No such user"))).toMatch(/^451 4\.3\.0/)
    expect(await outcome()).toEqual({ bounced: false, reasons: null, pauses: 0 })
  })
})

describe("what changes nothing", () => {
  it.each([
    ["a delay", deliveryReport("Final-Recipient: rfc822; x@clinic.test\r\nAction: delayed\r\nStatus: 4.4.7\r\n")],
    ["an automatic reply", "Subject: Out of office\r\nAuto-Submitted: auto-replied\r\n\r\nBack on Monday.\r\n"],
  ])("%s is taken", async (_, raw) => {
    const send = await receiver()
    const { to, outcome } = await sent()
    expect(await send(to, raw)).toMatch(/^250/)
    expect(await outcome()).toEqual({ bounced: false, reasons: null, pauses: 0 })
  })

  it.each([
    ["whose seal is another's", (to: string) => to.replace(/-([0-9a-f]{16})@/, "-0123456789abcdef@")],
    ["that was never sealed", (to: string) => to.replace(/-[0-9a-f]{16}@/, "@")],
    ["that is nobody's", () => "postmaster@bounces.acme.test"],
  ])("mail to a return path %s is refused", async (_, forge) => {
    const send = await receiver()
    const { to, outcome } = await sent()
    expect(await send(forge(to), failed("5.1.1", "550 5.1.1 No such user"))).toMatch(/^550 5\.1\.1/)
    expect(await outcome()).toEqual({ bounced: false, reasons: null, pauses: 0 })
  })

  it("mail to a return path at the domain of any sender is taken", async () => {
    const send = await receiver()
    const { to, outcome } = await sent()
    expect(await send(to.replace("bounces.acme", "b.other"), failed("5.1.1", "550 5.1.1 No such user"))).toMatch(/^250/)
    expect(await outcome()).toMatchObject({ bounced: true })
  })

  it("a report on a message that was never sent is taken", async () => {
    const send = await receiver()
    const { to, outcome } = await sent(null)
    expect(await send(to, failed("5.1.1", "550 5.1.1 No such user"))).toMatch(/^250/)
    expect(await outcome()).toEqual({ bounced: false, reasons: null, pauses: 0 })
  })

  const LINE = `${"x".repeat(78)}\r\n`
  const envelope = (to: string) => ["EHLO relay.test", "MAIL FROM:<>", `RCPT TO:<${to}>`, "DATA"]

  it("mail that is too large is refused before its end, and its connection is closed", async () => {
    const port = await startReceiver()
    const { to } = await sent()
    const replies = await smtpDialogue(port, envelope(to), [LINE.repeat(4_194_304 / LINE.length + 1)])
    expect(replies.slice(-2)).toEqual([expect.stringMatching(/^354 /), expect.stringMatching(/^552 5\.3\.4 /)])
  })

  it("mail that is declared too large is refused before it is sent", async () => {
    const replies = await smtpDialogue(await startReceiver(), [
      "EHLO relay.test",
      "MAIL FROM:<> SIZE=4194305",
      "MAIL FROM:<> SIZE=4194304",
      "QUIT",
    ])
    expect(replies).toContain("250 SIZE 4194304")
    expect(replies.slice(-3)).toEqual([
      expect.stringMatching(/^552 5\.3\.4 /),
      expect.stringMatching(/^250 /),
      expect.stringMatching(/^221 /),
    ])
  })

  it("mail beyond what all connections together may hold is put off", async () => {
    const port = await startReceiver()
    const { to } = await sent()
    const replies = await Promise.race([1, 2, 3].map(() => smtpDialogue(port, envelope(to), [LINE.repeat(50_000)])))
    expect(replies.at(-1)).toMatch(/^451 4\.3\.0 /)
  })
})
