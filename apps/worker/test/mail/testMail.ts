import type { CampaignId } from "@outreach/domain/Identifier"
import { type Mail, Mailer, type MailOutcome, type SendingLease } from "@outreach/domain/mail/Mailer"
import { Clock, Effect } from "effect"

/** Creates an e-mail from `outreach@acme.test`. */
export const mailTo = (
  to: string,
  { sender, ...more }: Partial<Omit<Mail, "sender">> & { readonly sender?: Partial<Mail["sender"]> } = {},
): Mail => ({
  sender: {
    ...{ id: null, from: { name: "Acme Outreach", address: "outreach@acme.test" }, replyTo: null },
    ...{ bounceDomain: null, linkDomain: null, dkim: null, ...sender },
  },
  to,
  subject: "An invitation – Einladung",
  html: "<p>Your link</p>",
  text: "Your link",
  messageId: "<rcp_1@acme.test>",
  feedbackId: "cmp_1:pgm_1:org_1:outreach",
  returnPath: "bounce-1@bounces.acme.test",
  unsubscribeUrl: "https://outreach.test/unsubscribe/1",
  unsubscribeAddress: "unsubscribe-1@bounces.acme.test",
  ...more,
})

/** A lease of a campaign's message with a remaining time of a minute. */
export const testLease = Effect.map(
  Clock.currentTimeNanos,
  (now): SendingLease => ({
    campaignId: "cmp_1" as CampaignId,
    beginBy: now + 60_000_000_000n,
    begin: () => {},
    isHeld: () => true,
  }),
)

export const sendMail = Effect.fnUntraced(function* (mail: Mail, more: Partial<SendingLease> = {}) {
  const mailer = yield* Mailer
  return yield* mailer.send(Effect.succeed(mail), { ...(yield* testLease), ...more }, Effect.succeed<MailOutcome>)
})
