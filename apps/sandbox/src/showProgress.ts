import { CampaignBook } from "@outreach/domain/campaigns/CampaignBook"
import type { CampaignId } from "@outreach/domain/Identifier"
import { Effect } from "effect"

/** Prints a line of counts once a second while it changes, in place on a terminal, until interrupted. */
export const showProgress = Effect.fnUntraced(function* (
  campaignId: CampaignId,
  counts: {
    readonly mails: () => number
    readonly partner: () => Promise<{ readonly events: Readonly<Record<string, number>>; readonly duplicates: number }>
  },
) {
  const book = yield* CampaignBook
  const terminal = process.stdout.isTTY
  let shown = ""
  const show = Effect.gen(function* () {
    const { recipients, published, sent, bounced } = yield* book.progress(campaignId)
    const { status } = yield* book.find(campaignId)
    const { events, duplicates } = yield* Effect.promise(counts.partner)
    const line = [
      `campaign ${status}`,
      `recipients ${recipients}`,
      `published ${published}`,
      `sent ${sent}`,
      `bounced ${bounced}`,
      `mails caught ${counts.mails()}`,
      `partner: batches ${events["outreach.recipients_published"] ?? 0}`,
      `email_sent ${events["outreach.email_sent"] ?? 0}`,
      `repeated ${duplicates}`,
    ].join(" · ")
    if (line !== shown) process.stdout.write(terminal ? `\r\u001b[2K${line}` : `${line}\n`)
    shown = line
  })
  // A look that fails is made up for by the next.
  return yield* Effect.forever(Effect.andThen(Effect.ignoreCause(show), Effect.sleep(1000)))
})
