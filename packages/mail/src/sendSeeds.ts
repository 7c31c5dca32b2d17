import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { DescribedError } from "@outreach/domain/DescribedError"
import { cleanSmtpReply } from "@outreach/domain/mail/cleanSmtpReply"
import { createSeedId } from "@outreach/domain/mail/SeedMessage"
import { SeedRepository } from "@outreach/domain/mail/SeedRepository"
import type { EmailAddress } from "@outreach/domain/recipients/EmailAddress"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { Effect } from "effect"
import { PLACEHOLDER_TOKEN, renderMail } from "./renderMail.ts"
import { describeSmtpFailure, type SmtpError } from "./SmtpError.ts"
import { sendOnce } from "./sendOnce.ts"
import type { TestMailSettings } from "./sendTestMail.ts"

const CONCURRENCY = 4

/** A seed shares its address with a recipient, whom the message would reach before its time. */
class SeedIsRecipient extends DescribedError(
  "SeedIsRecipient",
  ({ count }: { readonly count: number }) =>
    `${count === 1 ? "One address is a recipient" : `${count} addresses are recipients`} of the organization; name mailboxes of your own. Nothing was sent.`,
) {}

/**
 * Sends a campaign's message to seeds as a recipient gets it, with links and a return path that are valid, and returns their ids. It counts
 * nowhere: a seed is no recipient.
 */
export const sendSeeds = Effect.fn("sendSeeds")(function* (
  campaign: Campaign,
  emails: ReadonlyArray<EmailAddress>,
  settings: TestMailSettings,
) {
  const { smtpUrl, bounceDomain, bouncePort, publicBaseUrl } = settings
  const { organizationId, id: campaignId } = campaign
  const seeds = yield* SeedRepository
  const sender = (yield* (yield* SenderRepository).identityOf(campaignId)) ?? settings.sender
  const messages = yield* Effect.forEach(emails, (email) =>
    Effect.map(createSeedId, (id) => ({ organizationId, id, campaignId, email })),
  )
  const options = { sender, bounceDomain, publicBaseUrl, receivesMail: bouncePort !== null }
  // All are composed before any is sent.
  const mails = yield* Effect.forEach(messages, ({ id, email }) =>
    renderMail(campaign, { token: PLACEHOLDER_TOKEN, email, recipientId: id }, options),
  )
  const count = yield* seeds.add(messages)
  if (count > 0) return yield* new SeedIsRecipient({ count })
  yield* Effect.forEach(
    messages.map((message, i) => [message, mails[i]!] as const),
    Effect.fnUntraced(function* ([message, mail]) {
      yield* Effect.tryPromise({
        try: () => sendOnce(mail, { url: smtpUrl, headers: {} }),
        catch: (error) => error as Partial<SmtpError>,
      }).pipe(
        Effect.matchEffect({
          onSuccess: (reply) => seeds.settle(message, "accepted", cleanSmtpReply(reply, message.email)),
          onFailure: (error) =>
            error.response === undefined
              ? seeds.settle(message, "unreachable", describeSmtpFailure(error))
              : seeds.settle(message, "refused", cleanSmtpReply(error.response, message.email)),
        }),
      )
    }),
    { concurrency: CONCURRENCY, discard: true },
  )
  return messages.map(({ id }) => id)
})
