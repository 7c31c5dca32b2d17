import { CampaignBook } from "@outreach/domain/campaigns/CampaignBook"
import type { CampaignId } from "@outreach/domain/Identifier"
import { Effect } from "effect"

/** Prints a line of counts once a second while it changes, in place on a terminal, until interrupted. */
export const showProgress = Effect.fnUntraced(function* (
  campaignId: CampaignId,
  counts: {
    readonly mails: () => number
    readonly partner: () => {
      readonly events: Readonly<Record<string, number>>
      readonly duplicates: number
      readonly reconciled: number
      /** What the partner has told the service, by stage. */
      readonly told: Readonly<Record<string, number>>
    }
  },
) {
  const book = yield* CampaignBook
  const { stdout } = process
  let shown = ""
  const show = Effect.gen(function* () {
    const { recipients, published, bounced } = yield* book.progress(campaignId)
    const { status } = yield* book.find(campaignId)
    const { events, duplicates, reconciled, told } = counts.partner()
    const received = Object.values(events).reduce((sum, count) => sum + count, 0)
    // The most telling first: a narrow terminal shows what fits.
    const line = [
      `published ${published} of ${recipients}`,
      `mails ${counts.mails()}`,
      `webhooks ${received}`,
      `email_sent ${events["outreach.email_sent"] ?? 0}`,
      `reconciled ${reconciled}`,
      `told ${Object.values(told).reduce((sum, count) => sum + count, 0)}`,
      ...(bounced > 0 ? [`bounced ${bounced}`] : []),
      ...(duplicates > 0 ? [`repeated ${duplicates}`] : []),
      `campaign ${status}`,
    ].join(" · ")
    // A line that wraps could not be written over.
    if (line !== shown) stdout.write(stdout.isTTY ? `\r\u001b[2K${line.slice(0, stdout.columns - 1)}` : `${line}\n`)
    shown = line
  })
  // A look that fails is made up for by the next.
  return yield* Effect.forever(Effect.andThen(Effect.ignoreCause(show), Effect.sleep(1000))).pipe(
    Effect.ensuring(Effect.sync(() => stdout.isTTY && stdout.write("\n"))),
  )
})
