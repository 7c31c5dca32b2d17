import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { CampaignId } from "@outreach/domain/Identifier"
import { Effect } from "effect"

/** Prints a line of counts once a second while it changes, in place on a terminal, until interrupted. */
export const showProgress = Effect.fnUntraced(function* (
  campaignId: CampaignId,
  counts: {
    /** What happened to the services. */
    readonly incidents: () => ReadonlyArray<string>
    readonly mails: () => number
    readonly unsubscribed: () => number
    readonly partner: () => {
      readonly events: Readonly<Record<string, number>>
      readonly duplicates: number
      readonly reconciled: number
      /** Events that the service has taken from the partner, by stage. */
      readonly told: Readonly<Record<string, number>>
    }
  },
) {
  const campaigns = yield* CampaignRepository
  const { stdout } = process
  let shown = ""
  const show = Effect.gen(function* () {
    const { recipients, published } = yield* campaigns.progress(campaignId)
    const { status } = yield* campaigns.find(campaignId)
    const { events, duplicates, reconciled, told } = counts.partner()
    const received = Object.values(events).reduce((sum, count) => sum + count, 0)
    const optional = {
      opened: events["outreach.email_opened"],
      clicked: events["outreach.email_clicked"],
      bounced: events["outreach.email_bounced"],
      unsubscribed: counts.unsubscribed(),
      accounts: told["account_created"],
      learners: told["learner_qualified"],
      completers: told["completer_qualified"],
      repeated: duplicates,
    }
    // The most telling first: a narrow terminal shows what fits.
    const line = [
      ...counts.incidents(),
      `published ${published} of ${recipients}`,
      `mails ${counts.mails()}`,
      `webhooks ${received}`,
      `reconciled ${reconciled}`,
      ...Object.entries(optional).flatMap(([name, count]) => (count ? [`${name} ${count}`] : [])),
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
