import { describe, expect, it } from "@effect/vitest"
import { eraseRecipients } from "@outreach/domain/erasure/Erasures"
import type { RecipientId } from "@outreach/domain/Identifier"
import { MAX_REPLIES_PER_DAY } from "@outreach/domain/mail/Reply"
import { ReplyRepository } from "@outreach/domain/mail/ReplyRepository"
import { eventually } from "@outreach/testing/eventually"
import { partner } from "@outreach/testing/partner"
import { deliveryReport } from "../deliveryReport.ts"
import { journey } from "../journey.ts"
import { runWorker } from "../runWorker.ts"
import { returnPaths, sendTo, startBounceReceiver } from "./startBounceReceiver.ts"

const { url, run, launch, query } = journey()

const CLINICIAN = "clinician0@clinic.test"

/** Launches a campaign of one, whose message was sent; returns how to write to its addresses, and what was recorded. */
const sent = async () => {
  const { campaign, organization } = await launch(await partner(), 1)
  const [recipient] = await query<{ id: RecipientId }>(
    (sql) => sql`update recipients set sent_at = now() where campaign_id = ${campaign.id} returning id`,
  )
  const { id } = recipient!
  const send = sendTo(await startBounceReceiver(run))
  const [reply, unsubscribe] = [returnPaths.of(id), returnPaths.unsubscribe(id)]
  return {
    ...{ id, reply, unsubscribe, send, organizationId: organization.id },
    /** Sends a message to the return path as a person does. */
    write: (raw: string, from = CLINICIAN) => send(reply, raw, from),
    outcome: async () => {
      const [row] = await query<{ unsubscribed: boolean | null; replies: ReadonlyArray<string>; bounced: boolean }>(
        (sql) => sql`
          select (select from_organization and revoked_at is null from unsubscriptions where recipient_id = ${id}) as unsubscribed,
            array(select subject || ': ' || text from replies where recipient_id = ${id} order by number) as replies,
            bounced_at is not null as bounced
          from recipients where id = ${id}`,
      )
      return row
    },
  }
}

const NOTHING = { unsubscribed: null, replies: [], bounced: false }
const UNSUBSCRIBED = { ...NOTHING, unsubscribed: true }
const mail = (subject: string, text = "", headers = "") =>
  `From: ${CLINICIAN}\r\nSubject: ${subject}\r\n${headers}\r\n${text}\r\n`

const AUTOMATIC: ReadonlyArray<readonly [kind: string, raw: string]> = [
  ["an absence", mail("Stop", "stop", "Auto-Submitted: auto-replied\r\n")],
  ["a notice", mail("unsubscribe", "", "Auto-Submitted: auto-notified\r\n")],
  ["a reply of an older program", mail("unsubscribe", "", "X-Autoreply: yes\r\n")],
]

describe("mail to the address that unsubscribes", () => {
  it.each([
    ["as programs send it", mail("unsubscribe"), CLINICIAN],
    ["from nobody, with nothing in it", "\r\n", ""],
    ["from a program", mail("unsubscribe", "", "Auto-Submitted: auto-generated\r\nPrecedence: bulk\r\n"), CLINICIAN],
    [
      "that no reader understands",
      mail("x", "", `Content-Type: multipart/mixed; boundary="${"b".repeat(300_000)}"\r\n`),
      "",
    ],
  ])("unsubscribes from the organization, %s, once or again", async (_, raw, from) => {
    const { send, unsubscribe, outcome } = await sent()
    expect(await send(unsubscribe.toUpperCase(), raw, from)).toMatch(/^250/)
    expect(await send(unsubscribe, raw, from)).toMatch(/^250/)
    expect(await outcome()).toEqual(UNSUBSCRIBED)
  })

  it("suppresses the clinician, as the button of the page does", async () => {
    const { send, unsubscribe, organizationId } = await sent()
    await send(unsubscribe, mail("unsubscribe"), CLINICIAN)
    await runWorker(url())
    const suppressed = () =>
      query<{ kind: string; reason: string }>(
        (sql) =>
          sql`select kind, reason from organization_suppressions where organization_id = ${organizationId} order by kind`,
      )
    expect(await eventually(suppressed, ({ length }) => length === 2)).toEqual([
      { kind: "email", reason: "unsubscribed" },
      { kind: "npi", reason: "unsubscribed" },
    ])
  })

  it.each<(typeof AUTOMATIC)[number]>([
    ...AUTOMATIC,
    ["a bounce", deliveryReport("Final-Recipient: rfc822; x\r\nAction: failed\r\nStatus: 5.1.1\r\n")],
  ])("does not for %s", async (_, raw) => {
    const { send, unsubscribe, outcome } = await sent()
    expect(await send(unsubscribe, raw)).toMatch(/^250/)
    expect(await outcome()).toEqual(NOTHING)
  })

  it.each([
    ["with the seal of the return path", ({ reply }: Sent) => reply.replace("bounce-", "unsubscribe-")],
    ["with another seal", ({ unsubscribe }: Sent) => unsubscribe.replace(/[0-9a-f]{16}@/, "0123456789abcdef@")],
    ["without one", () => "unsubscribe@bounces.acme.test"],
  ])("is refused %s", async (_, forge) => {
    const message = await sent()
    expect(await message.send(forge(message), mail("unsubscribe"), CLINICIAN)).toMatch(/^550 /)
    expect(await message.outcome()).toEqual(NOTHING)
  })

  it("of nobody we know is taken", async () => {
    const { send } = await sent()
    expect(await send(returnPaths.unsubscribe(`rcp_${"0".repeat(32)}` as RecipientId), mail("unsubscribe"))).toMatch(
      /^250/,
    )
  })
})

type Sent = Awaited<ReturnType<typeof sent>>

describe("a reply to the return path", () => {
  it.each([
    ["the subject", mail("STOP")],
    [
      "the first line",
      mail("Re: An invitation", "Please unsubscribe me.\r\n\r\nOn Monday Acme wrote:\r\n> An invitation"),
    ],
    [
      "a first line in quoted-printable",
      mail(
        "=?utf-8?q?Re=3A_x?=",
        "D=C3=A9sabonner",
        "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n",
      ),
    ],
    [
      "HTML alone",
      mail("Re: x", "<p>Abmelden</p><blockquote>An invitation</blockquote>", "Content-Type: text/html\r\n"),
    ],
  ])("that asks for it in %s alone unsubscribes", async (_, raw) => {
    const { write, outcome } = await sent()
    expect(await write(raw)).toMatch(/^250/)
    expect(await write(raw)).toMatch(/^250/)
    expect(await outcome()).toEqual(UNSUBSCRIBED)
  })

  it.each<(typeof AUTOMATIC)[number]>([
    ...AUTOMATIC,
    ["a program's message", mail("Stop", "", "Auto-Submitted: auto-generated\r\n")],
    ["a list's message", mail("Stop", "", "Precedence: list\r\n")],
  ])("neither unsubscribes nor is kept if it is %s", async (_, raw) => {
    const { write, outcome } = await sent()
    expect(await write(raw)).toMatch(/^250/)
    expect(await outcome()).toEqual(NOTHING)
  })

  it("from nobody asks for nothing, whatever it says", async () => {
    const { write, outcome } = await sent()
    expect(await write(mail("Stop", "stop"), "")).toMatch(/^250/)
    expect(await outcome()).toEqual(NOTHING)
  })

  it("of a person is kept for an operator, as text without attachments, once", async () => {
    const { write, outcome } = await sent()
    const raw = mail(
      "=?utf-8?q?Frage_=E2=80=AE?=",
      [
        ...[
          "--b",
          "Content-Type: text/plain; charset=utf-8",
          "",
          "May I\u202e bring \u001b[2Ja colleague?",
          "> An invitation",
          "",
        ],
        ...[
          "--b",
          "Content-Type: application/pdf; name=cv.pdf",
          "Content-Transfer-Encoding: base64",
          "",
          "AAAA",
          "--b--",
        ],
      ].join("\r\n"),
      "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n",
    )
    expect(await write(raw)).toMatch(/^250/)
    expect(await write(raw)).toMatch(/^250/)
    expect(await outcome()).toEqual({ ...NOTHING, replies: ["Frage: May I bring [2Ja colleague?"] })
  })

  it("to several messages is kept with each", async () => {
    const [one, other] = [await sent(), await sent()]
    expect(await one.send([one.reply, other.reply, one.reply], mail("Hello"), CLINICIAN)).toMatch(/^250/)
    for (const { outcome } of [one, other]) expect(await outcome()).toEqual({ ...NOTHING, replies: ["Hello: "] })
  })

  it("is kept up to the bound of the day, and then no more, while requests to unsubscribe are still heard", async () => {
    const { write, outcome, id } = await sent()
    for (let i = 0; i <= MAX_REPLIES_PER_DAY.recipient; i++) expect(await write(mail("Hello", `${i}`))).toMatch(/^250/)
    expect((await outcome())?.replies).toEqual(["Hello: 0", "Hello: 1", "Hello: 2", "Hello: 3", "Hello: 4"])
    await query(
      (sql) => sql`update replies set received_at = received_at - interval '25 hours' where recipient_id = ${id}`,
    )
    await write(mail("Hello", "5"))
    expect((await outcome())?.replies).toHaveLength(6)
    await write(mail("Stop"))
    expect((await outcome())?.unsubscribed).toBe(true)
  })

  it("is dropped where the organization has had as many as are kept in a day", async () => {
    const { write, outcome, id, organizationId } = await sent()
    await query(
      (sql) => sql`
        insert into replies (organization_id, recipient_id, number, subject, text, received_at)
        select ${organizationId}, ${id}, number, 'x', 'x', now() - interval '23 hours'
        from generate_series(1, ${MAX_REPLIES_PER_DAY.organization}::int) number`,
    )
    await write(mail("Hello"))
    expect((await outcome())?.replies).not.toContain("Hello: ")
  })

  it("is asked for again later while the organization is frozen", async () => {
    const { send, reply, unsubscribe, organizationId, outcome } = await sent()
    const freeze = (at: string | null) =>
      query((sql) => sql`update organizations set frozen_at = ${at}::timestamptz where id = ${organizationId}`)
    await freeze("now")
    for (const to of [reply, unsubscribe]) {
      for (const subject of ["Stop", "Hello"]) expect(await send(to, mail(subject), CLINICIAN)).toMatch(/^451 /)
    }
    expect(await outcome()).toEqual(NOTHING)
    await freeze(null)
  })

  it("of a clinician who was erased is taken and not kept", async () => {
    const { write, id, organizationId } = await sent()
    await write(mail("Hello"))
    await run(eraseRecipients(organizationId, [id]))
    expect(await write(mail("Hello again"))).toMatch(/^250/)
    expect(await query((sql) => sql`select from replies where recipient_id = ${id}`)).toEqual([])
  })

  it("is forgotten after some days, done or not", async () => {
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
