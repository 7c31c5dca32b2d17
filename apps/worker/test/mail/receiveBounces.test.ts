import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createConnection } from "node:net"
import type { RecipientId } from "@outreach/domain/Identifier"
import { applyUnsubscriptions } from "@outreach/domain/suppressions/Unsubscriptions"
import { npi } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { eventually } from "@outreach/testing/until"
import { describe, expect, it, onTestFinished } from "vitest"
import { complaintReport, complaintReports } from "../complaintReport.ts"
import { deliveryReport } from "../deliveryReport.ts"
import { journey } from "../journey.ts"
import { smtpDialogue } from "../smtpDialogue.ts"
import { returnPaths, seedSent, sharedBounceReceiver, startBounceReceiver } from "./startBounceReceiver.ts"

const { run } = journey()
const send = sharedBounceReceiver(run)

const startReceiver = async (options: Parameters<typeof startBounceReceiver>[1] = {}) =>
  (await startBounceReceiver(run, options)).port

const failed = (status: string, diagnostic: string) =>
  deliveryReport(
    `Final-Recipient: rfc822; x@clinic.test\r\nAction: failed\r\nStatus: ${status}\r\nDiagnostic-Code: smtp; ${diagnostic}\r\n`,
  )
const NO_SUCH_USER = failed("5.1.1", "550 5.1.1 No such user")

const COMPLAINTS = "complaints@bounces.acme.test"
const YAHOO = complaintReports[2]!.source
const sourceOf = (effect: string) => complaintReports.find(({ expected }) => expected === effect)!.source

const localPartOf = (address: string) => address.slice(0, address.indexOf("@"))

const sent = async (at: "now" | null = "now") => {
  const message = await run(seedSent(at))
  const outcome = async () => {
    const [row] = await run(sql<{ bounced: boolean; reasons: ReadonlyArray<string> | null; pauses: number }>`
      select bounced_at is not null as bounced,
        (select array_agg(body::jsonb -> 'data' ->> 'bounce_reason') from events where recipient_id = recipient.id) as reasons,
        (select count(*)::int from campaign_domains where campaign_id = recipient.campaign_id and paused_until is not null) as pauses
      from recipients recipient where id = ${message.id}`)
    return row
  }
  /** Queues the message with this number of unknown outcomes. */
  const enqueue = (unknownOutcomes: number) =>
    run(sql`
      insert into messages (organization_id, recipient_id, campaign_id, due_at, unknown_outcomes)
      values (${message.organizationId}, ${message.id}, ${message.campaignId}, 'infinity', ${unknownOutcomes})`)
  return { ...message, outcome, enqueue }
}
const UNCHANGED = { bounced: false, reasons: null, pauses: 0 }

const isSuppressed = async (recipientId: string) => {
  const rows = await run(sql`
    select from suppressions join recipients using (organization_id)
    where id = ${recipientId} and reason = 'bounced' and value = lower(email)`)
  return rows.length > 0
}

/** A bounce of `packages/mail/test/bounces` about a message with this local part of its return path. */
const sample = (name: string, localPart: string) =>
  readFileSync(new URL(`../../../../packages/mail/test/bounces/${name}.eml`, import.meta.url), "utf8").replaceAll(
    /bounce-[0-9a-f-]{51}/g,
    localPart,
  )

describe("a bounce of a message that was sent", () => {
  it("marks the recipient once, however often it is reported, at the domain of any sender, and suppresses the address", async () => {
    const { to, id, outcome } = await sent()
    expect(await send(to, NO_SUCH_USER)).toMatch(/^250/)
    expect(await send(to.toUpperCase(), NO_SUCH_USER, "mailer-daemon@mx.test")).toMatch(/^250/)
    const other = to.replace("bounces.acme", "b.other")
    expect(await send(other, sample("qmail-no-mailbox", localPartOf(to)))).toMatch(/^250/)
    expect(await outcome()).toEqual({ bounced: true, reasons: ["mailbox_not_found"], pauses: 0 })
    expect(await isSuppressed(id)).toBe(true)
  })

  it.each([
    ["after deferrals by a full mailbox", "4.4.7", "451 4.2.2 Mailbox full", "full", 0],
    ["that is about us", "5.7.1", "550 5.7.1 Blocked", "policy", 1],
  ])("%s is recorded as one refusal, and doesn't mark the recipient", async (_, status, diagnostic, cause, pauses) => {
    const { to, id, campaignId, outcome } = await sent()
    for (const _ of [1, 2]) expect(await send(to, failed(status, diagnostic))).toMatch(/^250/)
    expect(await outcome()).toEqual({ bounced: false, reasons: null, pauses })
    expect(
      await run(sql`
        select cause, refused_later::int as refused, number,
          (select count(*)::int from suppressions where organization_id = refusal.organization_id) as suppressed
        from late_refusals refusal
        join message_attempts attempt using (organization_id, recipient_id)
        cross join lateral campaign_totals(organization_id, campaign_id)
        where campaign_id = ${campaignId} and recipient_id = ${id}`),
    ).toEqual([{ cause, refused: 1, number: 0, suppressed: 0 }])
  })

  it("settles a message with an unknown outcome, as a bounce for other reasons if the relay gave up", async () => {
    const { to, id, outcome, enqueue } = await sent(null)
    await enqueue(1)
    expect(await send(to, failed("4.4.7", "451 4.4.1 No answer"))).toMatch(/^250/)
    expect(await outcome()).toEqual({ bounced: true, reasons: ["other"], pauses: 0 })
    expect(await run(sql`select from late_refusals where recipient_id = ${id}`)).toEqual([])
  })

  it("is requested again later if it comes before the record that the message was sent", async () => {
    const { to, outcome, enqueue } = await sent(null)
    await enqueue(0)
    expect(await send(to, NO_SUCH_USER)).toMatch(/^451 4\.3\.0/)
    expect(await outcome()).toEqual(UNCHANGED)
  })

  it("is believed at an address for complaints by the seal of the returned message", async () => {
    const { to, outcome } = await sent()
    expect(await send("abuse@bounces.acme.test", sample("qmail-no-mailbox", "nobody"))).toMatch(/^250/)
    expect(await outcome()).toEqual(UNCHANGED)
    expect(await send("abuse@bounces.acme.test", sample("forwarder-headers-only", localPartOf(to)))).toMatch(/^250/)
    expect(await outcome()).toMatchObject({ bounced: true, reasons: ["mailbox_not_found"] })
  })

  it("doesn't suppress the address or pause the domain if its classification is uncertain", async () => {
    const { to, id, outcome } = await sent()
    for (const name of ["unknown-bounce", "qmail-unknown-words"]) {
      expect(await send(to, sample(name, localPartOf(to)))).toMatch(/^250/)
    }
    expect(await outcome()).toMatchObject({ pauses: 0 })
    expect(await isSuppressed(id)).toBe(false)
  })

  it("counts only with an empty sender of the envelope if the header doesn't identify it as a bounce", async () => {
    const { to, outcome } = await sent()
    const text = sample("qmail-no-mailbox", localPartOf(to)).replace(/^From: .*$/m, "From: filter@clinic.test")
    expect(await send(to, text, "pat@clinic.test")).toMatch(/^250/)
    expect(await outcome()).toMatchObject({ bounced: false })
    expect(await send(to, text, "")).toMatch(/^250/)
    expect(await outcome()).toMatchObject({ bounced: true })
  })
})

describe("mail that has no effect", () => {
  it("is accepted: a delay, an automatic reply, a challenge, and a report on a message that was never sent", async () => {
    const { to, outcome } = await sent()
    for (const raw of [
      deliveryReport("Final-Recipient: rfc822; x@clinic.test\r\nAction: delayed\r\nStatus: 4.4.7\r\n"),
      "Subject: Out of office\r\nAuto-Submitted: auto-replied\r\n\r\nBack on Monday.\r\n",
      sample("challenge-tmda", localPartOf(to)),
    ]) {
      expect(await send(to, raw)).toMatch(/^250/)
    }
    expect(await outcome()).toEqual(UNCHANGED)
    const unsent = await sent(null)
    expect(await send(unsent.to, NO_SUCH_USER)).toMatch(/^250/)
    expect(await unsent.outcome()).toEqual(UNCHANGED)
  })

  it("is rejected at a return path without a valid seal", async () => {
    const { to, outcome } = await sent()
    const forged = [to.replace(/[0-9a-f]{16}@/, "0123456789abcdef@"), to.replace(/-[0-9a-f]{18}@/, "@")]
    for (const address of [...forged, "postmaster@bounces.acme.test"]) {
      expect(await send(address, NO_SUCH_USER)).toMatch(/^550 5\.1\.1/)
    }
    expect(await outcome()).toEqual(UNCHANGED)
  })

  it("is rejected before its end if it is too large, and its connection is closed", async () => {
    const { to } = await sent()
    const line = `${"x".repeat(78)}\r\n`
    const envelope = ["EHLO relay.test", "MAIL FROM:<>", `RCPT TO:<${to}>`, "DATA"]
    const replies = await smtpDialogue(await startReceiver(), envelope, [line.repeat(4_194_304 / line.length + 1)])
    expect(replies.slice(-2)).toEqual([expect.stringMatching(/^354 /), expect.stringMatching(/^552 5\.3\.4 /)])
  })

  it("is rejected before it is sent if its declared size is too large", async () => {
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
  const complained = async ({ id, campaignId }: { readonly id: string; readonly campaignId: string }) => {
    const [row] = await run(sql<{
      complaints: ReadonlyArray<string> | null
      suppressions: ReadonlyArray<string> | null
    }>`
      select (select array_agg(feedback_type) from complaints where recipient_id = recipient.id and campaign_id = ${campaignId}) as complaints,
        (select array_agg(reason || ' ' || value order by value) from suppressions
          where organization_id = recipient.organization_id) as suppressions
      from recipients recipient where id = ${id}`)
    return row
  }
  const countsOf = async (campaignId: string) => {
    const [row] = await run(sql<object>`
      select complained::int, unsubscribed::int from campaigns cross join lateral campaign_totals(organization_id, campaigns.id)
      where campaigns.id = ${campaignId}`)
    return row
  }
  const none = { complaints: null, suppressions: null }

  it.each(["complained", "unsubscribed", "ignored"])(
    "has its effect once at every address for complaints: %s",
    async (expected) => {
      const message = await sent()
      const report = complaintReport(sourceOf(expected), localPartOf(message.to), "bounces.acme.test")
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
      // The partner's view is unchanged.
      expect(await message.outcome()).toEqual(UNCHANGED)
    },
  )

  it("is believed only at the return path itself or with the seal of a message", async () => {
    const message = await sent()
    const forged = localPartOf(message.to).replace(/.{16}$/, "0123456789abcdef")
    for (const seal of ["redacted", forged]) {
      expect(await send(COMPLAINTS, complaintReport(YAHOO, seal, "bounces.acme.test"))).toMatch(/^250/)
    }
    expect(await complained(message)).toEqual(none)
    expect(await send(message.to, complaintReport(YAHOO, "redacted", "x.test"))).toMatch(/^250/)
    expect(await complained(message)).toMatchObject({ complaints: ["abuse"] })
  })

  it("is not accepted at any other name", async () => {
    for (const address of ["complaint@bounces.acme.test", "xabuse@bounces.acme.test", "info@bounces.acme.test"]) {
      expect(await send(address, complaintReport(YAHOO, "x", "x.test"))).toMatch(/^5\d\d /)
    }
  })
})

it("STARTTLS isn't offered, because the listener has no certificate", async () => {
  const replies = await smtpDialogue(await startReceiver(), ["EHLO relay.test", "STARTTLS", "QUIT"])
  expect(replies.join("\n")).not.toContain("250-STARTTLS")
  expect(replies.at(-2)).toMatch(/^50\d /)
})

describe("a client that takes more than its share", () => {
  it("of time loses its connection even while it keeps sending bytes, and makes room for other clients", async () => {
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

  it("of connections receives 421 until one is free, while other clients are served", async () => {
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

  it("of recipients or messages receives an error, and the earlier ones are accepted", async () => {
    const port = await startReceiver()
    const { to } = await sent()
    const pathOf = (i: number) => returnPaths.of(`rcp_${String(i).padStart(32, "0")}` as RecipientId)
    const rcpt = Array.from({ length: 101 }, (_, i) => `RCPT TO:<${pathOf(i)}>`)
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
