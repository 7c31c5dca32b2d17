import { once } from "node:events"
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createConnection } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { PeerCertificate } from "node:tls"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "@effect/vitest"
import type { RecipientId } from "@outreach/domain/Identifier"
import { applyUnsubscriptions } from "@outreach/domain/suppressions/Unsubscriptions"
import { eventually } from "@outreach/testing/eventually"
import { partner } from "@outreach/testing/partner"
import { npi } from "@outreach/testing/seedCampaign"
import { createTransport } from "nodemailer"
import { onTestFinished } from "vitest"
import { type Certificate, readCertificate } from "../../src/mail/certificate.ts"
import { complaintReport, complaintReports } from "../complaintReport.ts"
import { deliveryReport } from "../deliveryReport.ts"
import { journey } from "../journey.ts"
import { smtpDialogue } from "../smtpDialogue.ts"
import { returnPaths, sendTo, startBounceReceiver } from "./startBounceReceiver.ts"

const { run, launch, query } = journey()
const returnPath = (recipientId: string) => returnPaths.of(recipientId as RecipientId)

const startReceiver = (options: Parameters<typeof startBounceReceiver>[1] = {}) => startBounceReceiver(run, options)

/** Receives bounces until the test is finished; returns how to send one, which returns the reply. */
const receiver = async () => sendTo(await startReceiver())

const failed = (status: string, diagnostic: string) =>
  deliveryReport(
    `Final-Recipient: rfc822; x@clinic.test\r\nAction: failed\r\nStatus: ${status}\r\nDiagnostic-Code: smtp; ${diagnostic}\r\n`,
  )

/** The reports that suppress: of Yahoo, and a request to be removed. */
const YAHOO = complaintReports[2]!.source
const OPT_OUT = complaintReports.find(({ expected }) => expected === "unsubscribed")!.source

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

const localPartOf = (address: string) => address.slice(0, address.indexOf("@"))

const isSuppressed = async (recipientId: string) => {
  const rows = await query(
    (sql) => sql`
      select from organization_suppressions join recipients using (organization_id)
      where id = ${recipientId} and reason = 'bounced' and value = lower(email)`,
  )
  return rows.length > 0
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

  it.each([
    ["that the relay gave up after deferrals", "4.4.7", "451 4.2.2 Mailbox full", "full", 0],
    ["that expired", "4.4.7", "X-Relay; delivery temporarily suspended", "expired", 0],
    ["that is about us", "5.7.1", "550 5.7.1 Blocked", "policy", 1],
    ["that is about the content", "5.6.0", "554 5.6.0 Malformed", "content", 1],
    ["without a reason", "5.0.0", "554 Transaction failed", "other", 0],
  ])("%s leaves a trace, once, and marks nobody", async (_, status, diagnostic, cause, pauses) => {
    const send = await receiver()
    const { to, id, campaignId, outcome } = await sent()
    expect(await send(to, failed(status, diagnostic))).toMatch(/^250/)
    expect(await send(to, failed(status, diagnostic))).toMatch(/^250/)
    expect(await outcome()).toEqual({ bounced: false, reasons: null, pauses })
    expect(
      await query(
        (sql) => sql`
          select cause, refused_later::int as refused, messages, number,
            (select count(*)::int from organization_suppressions where organization_id = refusal.organization_id) as suppressed
          from late_refusals refusal
          join message_attempts attempt using (organization_id, recipient_id)
          join late_refusal_counts using (organization_id, campaign_id, cause)
          cross join lateral campaign_totals(organization_id, campaign_id)
          where campaign_id = ${campaignId} and recipient_id = ${id}`,
      ),
    ).toEqual([{ cause, refused: 1, messages: 1, number: 0, suppressed: 0 }])
  })

  it("that the relay gave up settles a message whose outcome nobody knew, as a bounce for other reasons", async () => {
    const send = await receiver()
    const { to, id, outcome } = await sent(null)
    await query(
      (sql) => sql`
      insert into messages (organization_id, recipient_id, campaign_id, due_at, unknown_outcomes)
      select organization_id, id, campaign_id, 'infinity', 1 from recipients where id = ${id}`,
    )
    expect(await send(to, failed("4.4.7", "451 4.4.1 No answer"))).toMatch(/^250/)
    expect(await outcome()).toEqual({ bounced: true, reasons: ["other"], pauses: 0 })
    expect(await query((sql) => sql`select from late_refusals where recipient_id = ${id}`)).toEqual([])
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

describe("a bounce in another form", () => {
  const sample = (name: string, localPart: string) =>
    readFileSync(new URL(`../../../../packages/mail/test/bounces/${name}.eml`, import.meta.url), "utf8").replaceAll(
      /bounce-[0-9a-f-]{51}/g,
      localPart,
    )

  it.each([
    ["a text of qmail", "qmail-no-mailbox"],
    ["a text of exim, with X-Failed-Recipients", "exim-remote"],
    ["a text of Exchange", "exchange-2007"],
    ["fields in multipart/mixed", "rfc3464-mixed"],
    ["fields in a text", "workmail"],
  ])("marks the recipient, and suppresses the address: %s", async (_, name) => {
    const send = await receiver()
    const { to, id, outcome } = await sent()
    expect(await send(to, sample(name, localPartOf(to)))).toMatch(/^250/)
    expect(await outcome()).toEqual({ bounced: true, reasons: ["mailbox_not_found"], pauses: 0 })
    expect(await isSuppressed(id)).toBe(true)
  })

  it("is read where its fields stand after a long message of ours", async () => {
    const send = await receiver()
    const { to, outcome } = await sent()
    const report = sample("rfc3464-returned-first", localPartOf(to))
    expect(await send(to, report.replace("Good morning", "Good morning\n".repeat(60_000)))).toMatch(/^250/)
    expect(await outcome()).toMatchObject({ bounced: true })
  })

  it("is believed at an address for complaints, too, by the seal of what came back", async () => {
    const send = await receiver()
    const { to, outcome } = await sent()
    expect(await send("abuse@bounces.acme.test", sample("forwarder-headers-only", localPartOf(to)))).toMatch(/^250/)
    expect(await outcome()).toMatchObject({ bounced: true, reasons: ["mailbox_not_found"] })
  })

  it("that is nobody's is taken there, and changes nothing", async () => {
    const send = await receiver()
    const { outcome } = await sent()
    expect(await send("abuse@bounces.acme.test", sample("qmail-no-mailbox", "nobody"))).toMatch(/^250/)
    expect(await outcome()).toMatchObject({ bounced: false })
  })

  it("that is guessed suppresses no address, and pauses no domain", async () => {
    const send = await receiver()
    const { to, id, outcome } = await sent()
    for (const name of ["unknown-bounce", "qmail-unknown-words"]) {
      expect(await send(to, sample(name, localPartOf(to)))).toMatch(/^250/)
    }
    expect(await outcome()).toMatchObject({ pauses: 0 })
    expect(await isSuppressed(id)).toBe(false)
  })

  it("counts from nobody alone: the sender of the envelope decides where the header names nobody", async () => {
    const send = await receiver()
    const { to, outcome } = await sent()
    const text = sample("qmail-no-mailbox", localPartOf(to)).replace(/^From: .*$/m, "From: filter@clinic.test")
    expect(await send(to, text, "pat@clinic.test")).toMatch(/^250/)
    expect(await outcome()).toMatchObject({ bounced: false })
    expect(await send(to, text, "")).toMatch(/^250/)
    expect(await outcome()).toMatchObject({ bounced: true })
  })

  it.each(["challenge-tmda", "auto-subject-german", "exim-delay", "human-reply", "quoted-by-a-person"])(
    "is not %s",
    async (name) => {
      const send = await receiver()
      const { to, outcome } = await sent()
      expect(await send(to, sample(name, localPartOf(to)), "x@clinic.test")).toMatch(/^250/)
      expect(await outcome()).toEqual({ bounced: false, reasons: null, pauses: 0 })
    },
  )
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
    ["whose seal is another's", (to: string) => to.replace(/[0-9a-f]{16}@/, "0123456789abcdef@")],
    ["that was never sealed", (to: string) => to.replace(/-[0-9a-f]{18}@/, "@")],
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
})

describe("a complaint", () => {
  const COMPLAINTS = "complaints@bounces.acme.test"

  /** Reads what was written of a message's complaint. */
  const complained = async ({ id, campaignId }: { readonly id: string; readonly campaignId: string }) => {
    const [row] = await query<{ complaints: ReadonlyArray<string> | null; suppressions: ReadonlyArray<string> | null }>(
      (sql) => sql`
        select (select array_agg(feedback_type) from complaints where recipient_id = recipient.id and campaign_id = ${campaignId}) as complaints,
          (select array_agg(reason || ' ' || value order by value) from organization_suppressions
            where organization_id = recipient.organization_id) as suppressions
        from recipients recipient where id = ${id}`,
    )
    return row
  }
  const countsOf = async (campaignId: string) => {
    const [row] = await query<object>(
      (sql) => sql`
        select complained::int, unsubscribed::int from campaigns cross join lateral campaign_totals(organization_id, campaigns.id)
        where campaigns.id = ${campaignId}`,
    )
    return row
  }
  const none = { complaints: null, suppressions: null }

  it.each(complaintReports.map(({ source, expected }) => [source, expected] as const))(
    "that comes from %s has the effect: %s",
    async (source, expected) => {
      const send = await receiver()
      const message = await sent()
      const report = complaintReport(source, localPartOf(message.to), "bounces.acme.test")
      for (const address of [COMPLAINTS, "FBL@Bounces.acme.test", "abuse@bounces.acme.test"]) {
        expect(await send(address, report, "feedback@provider.test")).toMatch(/^250/)
      }
      const counts = { complained: 0, unsubscribed: 0 }
      expect(await countsOf(message.campaignId)).toEqual({ ...counts, ...(expected in counts && { [expected]: 1 }) })
      if (expected === "unsubscribed") await run(applyUnsubscriptions)
      const values = { complained: ["clinician0@clinic.test"], unsubscribed: [npi(0), "clinician0@clinic.test"] }[
        expected
      ]
      expect(await complained(message)).toEqual({
        complaints: expected === "complained" ? ["abuse"] : null,
        suppressions: values?.map((value) => `${expected} ${value}`) ?? null,
      })
      // Nothing that the partner sees has changed.
      expect(await message.outcome()).toEqual({ bounced: false, reasons: null, pauses: 0 })
    },
  )

  it("that is sent to the return path itself is believed without any other seal", async () => {
    const send = await receiver()
    const message = await sent()
    expect(await send(message.to, complaintReport(YAHOO, "redacted", "x.test"))).toMatch(/^250/)
    expect(await complained(message)).toMatchObject({ complaints: ["abuse"] })
  })

  it.each([
    ["without a seal", () => "redacted"],
    ["with the seal of another message", (to: string) => localPartOf(to).replace(/.{16}$/, "0123456789abcdef")],
  ])("%s is taken, and believed by nobody", async (_, forge) => {
    const send = await receiver()
    const message = await sent()
    expect(await send(COMPLAINTS, complaintReport(YAHOO, forge(message.to), "bounces.acme.test"))).toMatch(/^250/)
    expect(await complained(message)).toEqual(none)
  })

  it("of a frozen organization is asked to try again", async () => {
    const send = await receiver()
    const message = await sent()
    const freeze = (at: string | null) =>
      query(
        (sql) => sql`
          update organizations set frozen_at = ${at}::timestamptz
          where id = (select organization_id from recipients where id = ${message.id})`,
      )
    await freeze("now")
    const report = complaintReport(OPT_OUT, localPartOf(message.to), "bounces.acme.test")
    expect(await send(COMPLAINTS, report)).toMatch(/^451 /)
    expect(await complained(message)).toEqual(none)
    await freeze(null)
  })

  it("is not accepted at any other name", async () => {
    const send = await receiver()
    for (const address of ["complaint@bounces.acme.test", "xabuse@bounces.acme.test", "info@bounces.acme.test"]) {
      expect(await send(address, complaintReport(YAHOO, "x", "x.test"))).toMatch(/^5\d\d /)
    }
  })
})

describe("STARTTLS", () => {
  const file = (name: string) => fileURLToPath(new URL(`../data/${name}.pem`, import.meta.url))
  const load = (certFile: string, keyFile: string) => readCertificate({ certFile, keyFile }) as Certificate

  /** Delivers to a return path with STARTTLS; returns the reply and the certificate's fingerprint. */
  const deliver = async (port: number, to: string, ca: string) => {
    let fingerprint = ""
    const transport = createTransport({
      host: "127.0.0.1",
      port,
      requireTLS: true,
      tls: {
        ca,
        checkServerIdentity: (_: string, peer: PeerCertificate) => {
          fingerprint = peer.fingerprint256
          return undefined
        },
      },
    })
    const envelope = { from: "", to: [to] }
    const { response } = await transport.sendMail({ envelope, raw: failed("5.1.1", "550 5.1.1 No such user") })
    return { response, fingerprint }
  }

  it("is offered with a certificate alone", async () => {
    const replies = await smtpDialogue(await startReceiver(), ["EHLO relay.test", "STARTTLS", "QUIT"])
    expect(replies.join("\n")).not.toContain("250-STARTTLS")
    expect(replies.at(-2)).toMatch(/^50\d /)
  })

  it("hides a bounce from those in between, and the bounce counts", async () => {
    const certificate = load(file("certificate"), file("key"))
    const port = await startReceiver({ certificate })
    const { to, outcome } = await sent()
    expect((await deliver(port, to, certificate.cert)).response).toMatch(/^250/)
    expect(await outcome()).toMatchObject({ bounced: true })
  })

  it("is not needed: a server without TLS is accepted as well", async () => {
    const port = await startReceiver({ certificate: load(file("certificate"), file("key")) })
    const { to } = await sent()
    const replies = await smtpDialogue(port, ["EHLO relay.test", "MAIL FROM:<>", `RCPT TO:<${to}>`, "QUIT"])
    expect(replies.join("\n")).toContain("STARTTLS")
    expect(replies.at(-2)).toMatch(/^250/)
  })

  it("offers the certificate that is in the files now, and the last good one while they are broken", async () => {
    const folder = mkdtempSync(join(tmpdir(), "certificate-"))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")]
    copyFileSync(file("certificate"), certFile)
    copyFileSync(file("key"), keyFile)
    const certificate = load(certFile, keyFile)
    const port = await startReceiver({ certificate, certificateEveryMs: 20 })
    const { to } = await sent()
    const first = (await deliver(port, to, certificate.cert)).fingerprint

    const other = new URL("../../../../packages/postgres-connection/test/data/", import.meta.url)
    writeFileSync(certFile, "half a cert")
    const renewedCert = readFileSync(new URL("selfSigned.pem", other), "utf8")
    expect((await deliver(port, to, certificate.cert)).fingerprint).toBe(first)
    writeFileSync(keyFile, readFileSync(new URL("key.pem", other)))
    writeFileSync(certFile, renewedCert)
    const renewed = await eventually(
      () => deliver(port, to, renewedCert).catch(() => undefined),
      (delivered) => delivered !== undefined,
    )
    expect(renewed?.fingerprint).not.toBe(first)
  })

  it.each([
    ["a missing file", "certificate", "none", "the file of the key cannot be read"],
    ["another's key", "certificate", "other", "the key is not that of the certificate"],
    ["no key", "certificate", "certificate", /^the files are not a certificate and its key in PEM \(/],
  ])("says what is wrong with %s", (_, cert, key, problem) => {
    const other = fileURLToPath(new URL("../../../../packages/postgres-connection/test/data/key.pem", import.meta.url))
    const read = readCertificate({ certFile: file(cert), keyFile: key === "other" ? other : file(key) })
    expect(read).toEqual({ problem: expect.stringMatching(problem) })
  })
})

describe("a sender that takes more than its share", () => {
  it("of time loses its connection, however often it sends a byte, and others get its place", async () => {
    const port = await startReceiver({ maxConnectionMs: 300 })
    const socket = createConnection(port, "127.0.0.1")
    const replies: string[] = []
    socket.on("data", (data) => replies.push(String(data)))
    socket.on("error", () => {})
    const trickle = setInterval(() => socket.write("N"), 20)
    await once(socket, "close")
    clearInterval(trickle)
    expect(replies.at(-1)).toMatch(/^421 /)
    expect(await smtpDialogue(port, ["QUIT"])).toContainEqual(expect.stringMatching(/^221/))
  })

  it("of connections is asked to try again, while others are served, until one is free", async () => {
    const port = await startReceiver()
    const from = (localAddress: string) => createConnection({ port, host: "127.0.0.1", localAddress })
    const held = Array.from({ length: 25 }, () => from("127.0.0.1"))
    const another = from("127.0.0.2")
    onTestFinished(() => [another, ...held].forEach((socket) => void socket.destroy()))
    await Promise.all(held.map((socket) => once(socket, "data")))
    expect(await smtpDialogue(port, ["QUIT"])).toEqual([expect.stringMatching(/^421 .*your address/)])
    expect(String((await once(another, "data"))[0])).toMatch(/^220 /)
    held[0]!.destroy()
    const free = () => smtpDialogue(port, ["QUIT"])
    await eventually(free, (replies) => replies.at(-1)?.startsWith("221") === true)
  })

  it("of recipients or messages is told so, and what came before counts", async () => {
    const port = await startReceiver()
    const { to } = await sent()
    const rcpt = Array.from({ length: 101 }, (_, i) => `RCPT TO:<${returnPath(`rcp_${String(i).padStart(32, "0")}`)}>`)
    const many = await smtpDialogue(port, ["EHLO relay.test", "MAIL FROM:<>", ...rcpt, "QUIT"])
    expect(many.slice(-3)).toEqual([
      expect.stringMatching(/^250/),
      expect.stringMatching(/^452 /),
      expect.stringMatching(/^221/),
    ])
    const messages = Array.from({ length: 101 }, () => ["MAIL FROM:<>", `RCPT TO:<${to}>`, "DATA"]).flat()
    const replies = await smtpDialogue(port, ["EHLO relay.test", ...messages], ["Subject: x\r\n\r\n.\r\n"])
    expect(replies.filter((reply) => reply.startsWith("354"))).toHaveLength(100)
    expect(replies.at(-1)).toMatch(/^421 .*Too many messages/)
  })

  it("of a command's length loses its connection", async () => {
    const replies = await smtpDialogue(await startReceiver(), [`EHLO ${"x".repeat(10_000)}`])
    expect(replies.at(-1)).toMatch(/^421 /)
  })
})
