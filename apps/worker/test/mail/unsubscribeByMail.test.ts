import { describe, expect, it } from "@effect/vitest"
import type { RecipientId } from "@outreach/domain/Identifier"
import { applyUnsubscriptions } from "@outreach/domain/suppressions/Unsubscriptions"
import { column, sql } from "@outreach/testing/sql"
import { deliveryReport } from "../deliveryReport.ts"
import { journey } from "../journey.ts"
import { returnPaths, seedSent, sharedBounceReceiver } from "./startBounceReceiver.ts"

const { run } = journey()
const send = sharedBounceReceiver(run)

const CLINICIAN = "clinician0@clinic.test"

const sent = async () => {
  const message = await run(seedSent())
  return {
    ...message,
    outcome: async () => {
      const [row] = await run(sql<{ unsubscribed: boolean | null; bounced: boolean }>`
        select (select from_organization and revoked_at is null from unsubscriptions where recipient_id = ${message.id}) as unsubscribed,
          bounced_at is not null as bounced
        from recipients where id = ${message.id}`)
      return row
    },
  }
}

const NOTHING = { unsubscribed: null, bounced: false }
const UNSUBSCRIBED = { ...NOTHING, unsubscribed: true }
const mail = (subject: string, text = "", headers = "") =>
  `From: ${CLINICIAN}\r\nSubject: ${subject}\r\n${headers}\r\n${text}\r\n`

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
    const suppressed = column<string>`
      select kind || ' ' || reason from suppressions
      where organization_id = ${organizationId} order by kind`
    expect(await run(suppressed)).toEqual(["email unsubscribed", "npi unsubscribed"])
  })

  it("has no effect if it is a bounce", async () => {
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

it("ignores mail that a person or a program sends to the return path", async () => {
  const { to, outcome } = await sent()
  for (const raw of [mail("Stop", "stop"), mail("Stop", "stop", "Auto-Submitted: auto-replied\r\n")]) {
    expect(await send(to, raw, CLINICIAN)).toMatch(/^250/)
  }
  expect(await outcome()).toEqual(NOTHING)
})
