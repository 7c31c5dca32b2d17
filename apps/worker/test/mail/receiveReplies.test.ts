import { describe, expect, it } from "@effect/vitest"
import { eraseRecipients } from "@outreach/domain/erasure/Erasures"
import type { RecipientId } from "@outreach/domain/Identifier"
import { MAX_REPLIES_PER_DAY } from "@outreach/domain/mail/Reply"
import { ReplyRepository } from "@outreach/domain/mail/ReplyRepository"
import { applyUnsubscriptions } from "@outreach/domain/suppressions/Unsubscriptions"
import { deliveryReport } from "../deliveryReport.ts"
import { journey } from "../journey.ts"
import { returnPaths, seedSent, sharedBounceReceiver } from "./startBounceReceiver.ts"

const { run, query } = journey()
const send = sharedBounceReceiver(run)

const CLINICIAN = "clinician0@clinic.test"

const sent = async () => {
  const message = await run(seedSent())
  return {
    ...message,
    /** Sends a message to the return path as a person does. */
    write: (raw: string, from = CLINICIAN) => send(message.to, raw, from),
    outcome: async () => {
      const [row] = await query<{ unsubscribed: boolean | null; replies: ReadonlyArray<string>; bounced: boolean }>(
        (sql) => sql`
          select (select from_organization and revoked_at is null from unsubscriptions where recipient_id = ${message.id}) as unsubscribed,
            array(select subject || ': ' || text from replies where recipient_id = ${message.id} order by number) as replies,
            bounced_at is not null as bounced
          from recipients where id = ${message.id}`,
      )
      return row
    },
  }
}

const NOTHING = { unsubscribed: null, replies: [], bounced: false }
const UNSUBSCRIBED = { ...NOTHING, unsubscribed: true }
const mail = (subject: string, text = "", headers = "") =>
  `From: ${CLINICIAN}\r\nSubject: ${subject}\r\n${headers}\r\n${text}\r\n`

const AUTOMATIC = [
  mail("Stop", "stop", "Auto-Submitted: auto-replied\r\n"),
  mail("unsubscribe", "", "Auto-Submitted: auto-notified\r\n"),
  mail("unsubscribe", "", "X-Autoreply: yes\r\n"),
]

describe("mail to the address that unsubscribes", () => {
  it.each([
    ["from a program", mail("unsubscribe", "", "Auto-Submitted: auto-generated\r\nPrecedence: bulk\r\n"), CLINICIAN],
    [
      "from Apple Mail",
      mail("Unsubscribe", "", "Auto-Submitted: auto-replied\r\nX-Apple-Unsubscribe: true\r\n"),
      CLINICIAN,
    ],
    ["that quotes a bounce", deliveryReport("Action: failed\r\nStatus: 5.1.1\r\n"), CLINICIAN],
    ["without sender and text", "\r\n", ""],
    [
      "that cannot be parsed",
      mail("x", "", `Content-Type: multipart/mixed; boundary="${"b".repeat(300_000)}"\r\n`),
      "",
    ],
  ])("unsubscribes and suppresses the clinician in the organization: %s", async (_, raw, from) => {
    const { unsubscribe, outcome, organizationId } = await sent()
    expect(await send(unsubscribe.toUpperCase(), raw, from)).toMatch(/^250/)
    expect(await send(unsubscribe, raw, from)).toMatch(/^250/)
    expect(await outcome()).toEqual(UNSUBSCRIBED)
    await run(applyUnsubscriptions)
    const suppressed = await query<{ text: string }>(
      (sql) => sql`
        select kind || ' ' || reason as text from organization_suppressions
        where organization_id = ${organizationId} order by kind`,
    )
    expect(suppressed.map(({ text }) => text)).toEqual(["email unsubscribed", "npi unsubscribed"])
  })

  it("does nothing if it is a bounce", async () => {
    const { unsubscribe, outcome } = await sent()
    const bounce = deliveryReport("Final-Recipient: rfc822; x\r\nAction: failed\r\nStatus: 5.1.1\r\n")
    expect(await send(unsubscribe, bounce, "")).toMatch(/^250/)
    expect(await outcome()).toEqual(NOTHING)
  })

  it("is rejected without a valid seal, and accepted for a recipient who doesn't exist", async () => {
    const { to, unsubscribe, outcome } = await sent()
    for (const address of [
      to.replace("bounce-", "unsubscribe-"),
      unsubscribe.replace(/[0-9a-f]{16}@/, "0123456789abcdef@"),
      "unsubscribe@bounces.acme.test",
    ]) {
      expect(await send(address, mail("unsubscribe"), CLINICIAN)).toMatch(/^550 /)
    }
    expect(await outcome()).toEqual(NOTHING)
    const unknown = returnPaths.unsubscribe(`rcp_${"0".repeat(32)}` as RecipientId)
    expect(await send(unknown, mail("unsubscribe"))).toMatch(/^250/)
  })
})

describe("a reply to the return path", () => {
  it.each([
    ["the subject", mail("STOP")],
    [
      "a first line in quoted-printable",
      mail(
        "=?utf-8?q?Re=3A_x?=",
        "D=C3=A9sabonner\r\n\r\n> An invitation",
        "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n",
      ),
    ],
    ["HTML", mail("Re: x", "<p>Abmelden</p><blockquote>An invitation</blockquote>", "Content-Type: text/html\r\n")],
  ])("that only requests it in %s unsubscribes", async (_, raw) => {
    const { write, outcome } = await sent()
    for (const _ of [1, 2]) expect(await write(raw)).toMatch(/^250/)
    expect(await outcome()).toEqual(UNSUBSCRIBED)
  })

  it("neither unsubscribes nor is kept if a program or nobody sent it", async () => {
    const { write, outcome } = await sent()
    const generated = ["Auto-Submitted: auto-generated\r\n", "Precedence: list\r\n"]
    for (const raw of [...AUTOMATIC, ...generated.map((header) => mail("Stop", "", header))]) {
      expect(await write(raw)).toMatch(/^250/)
    }
    expect(await write(mail("Stop", "stop"), "")).toMatch(/^250/)
    expect(await outcome()).toEqual(NOTHING)
  })

  it("of a person is kept once for an operator, as text without attachments", async () => {
    const { write, outcome } = await sent()
    const raw = mail(
      "=?utf-8?q?Frage_=E2=80=AE?=",
      `--b
Content-Type: text/plain; charset=utf-8

May I\u202e bring \u001b[2Ja colleague?
> An invitation

--b
Content-Type: application/pdf; name=cv.pdf
Content-Transfer-Encoding: base64

AAAA
--b--`.replaceAll("\n", "\r\n"),
      "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n",
    )
    for (const _ of [1, 2]) expect(await write(raw)).toMatch(/^250/)
    expect(await outcome()).toEqual({ ...NOTHING, replies: ["Frage: May I bring [2Ja colleague?"] })
  })

  it("to several messages is kept with each", async () => {
    const [one, other] = [await sent(), await sent()]
    expect(await send([one.to, other.to, one.to], mail("Hello"), CLINICIAN)).toMatch(/^250/)
    for (const { outcome } of [one, other]) expect(await outcome()).toEqual({ ...NOTHING, replies: ["Hello: "] })
  })

  it("is kept up to the limits of a recipient and an organization per day, and may unsubscribe beyond them", async () => {
    const { write, outcome, id, organizationId } = await sent()
    for (let i = 0; i <= MAX_REPLIES_PER_DAY.recipient; i++) expect(await write(mail("Hello", `${i}`))).toMatch(/^250/)
    expect((await outcome())?.replies).toEqual(["Hello: 0", "Hello: 1", "Hello: 2", "Hello: 3", "Hello: 4"])
    await query(
      (sql) => sql`update replies set received_at = received_at - interval '25 hours' where recipient_id = ${id}`,
    )
    await write(mail("Hello", "5"))
    expect((await outcome())?.replies).toHaveLength(6)
    await query(
      (sql) => sql`
        insert into replies (organization_id, recipient_id, number, subject, text, received_at)
        select ${organizationId}, ${id}, 100 + number, 'x', 'x', now() - interval '23 hours'
        from generate_series(1, ${MAX_REPLIES_PER_DAY.organization}::int) number`,
    )
    await query((sql) => sql`delete from replies where recipient_id = ${id} and number <= 100`)
    await write(mail("Hello"))
    expect((await outcome())?.replies).not.toContain("Hello: ")
    await write(mail("Stop"))
    expect((await outcome())?.unsubscribed).toBe(true)
  })

  it("of an erased clinician is accepted and not kept", async () => {
    const { write, id, organizationId } = await sent()
    await write(mail("Hello"))
    await run(eraseRecipients(organizationId, [id]))
    expect(await write(mail("Hello again"))).toMatch(/^250/)
    expect(await query((sql) => sql`select from replies where recipient_id = ${id}`)).toEqual([])
  })

  it("is deleted after some days, done or not", async () => {
    const { write, id, outcome } = await sent()
    await write(mail("One"))
    await write(mail("Two"))
    await query(
      (sql) =>
        sql`update replies set received_at = received_at - interval '91 days' where recipient_id = ${id} and number = 1`,
    )
    await run(ReplyRepository.use(({ forget }) => forget(90)))
    expect((await outcome())?.replies).toEqual(["Two: "])
  })
})
