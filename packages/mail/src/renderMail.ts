import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { DescribedError } from "@outreach/domain/DescribedError"
import { TrackingLinks } from "@outreach/domain/hits/TrackingLinks"
import { ReturnPaths } from "@outreach/domain/mail/returned/ReturnPaths"
import { composeMail, type MailRecipient } from "@outreach/domain/mail/templates/composeMail"
import { renderFault, sampleFields } from "@outreach/domain/mail/templates/Template"
import type { SenderIdentity } from "@outreach/domain/senders/Sender"
import { Effect, Layer } from "effect"

/** Token of a message without a recipient. */
export const PLACEHOLDER_TOKEN = "aB3dE9"

/** A message doesn't render with its recipient's fields. The reason doesn't quote them. */
class MessageNotRendered extends DescribedError("MessageNotRendered", "A template of the campaign {reason}.") {}

/** Options of `renderMail` in addition to the campaign. */
export interface RenderOptions {
  readonly sender: SenderIdentity
  /** Domain of the return path, if the sender has none. */
  readonly bounceDomain: string
  readonly publicBaseUrl: string
  /** Whether workers receive mail for the domains of return paths. */
  readonly receivesMail: boolean
}

/**
 * Renders a campaign's message as it would be sent, without DKIM signature. Missing fields are replaced by their names as samples.
 *
 * With a `throwawaySeal`, clicks on its links aren't recorded.
 */
export const renderMail = Effect.fnUntraced(function* (
  campaign: Campaign,
  recipient: Pick<MailRecipient, "token" | "email" | "recipientId" | "fields">,
  options: RenderOptions,
) {
  const settings = yield* Effect.all({ links: TrackingLinks, returnPaths: ReturnPaths }).pipe(
    Effect.provide(Layer.merge(TrackingLinks.below(options.publicBaseUrl), ReturnPaths.at(options.bounceDomain))),
  )
  const { name: programName, senderName, postalAddress } = yield* programOf(campaign)
  const template = { ...campaign, campaignName: campaign.name, programName, senderName, postalAddress }
  const compose = composeMail(template, { ...settings, sender: options.sender, receivesMail: options.receivesMail })
  const { organizationId, programId, id: campaignId } = campaign
  const written = { fields: sampleFields(campaign.fields), ...recipient, organizationId, programId, campaignId }
  return yield* Effect.try({
    try: () => compose(written),
    catch: (error) => new MessageNotRendered({ reason: renderFault(error) }),
  })
})

export const programOf = Effect.fnUntraced(function* ({ organizationId, id }: Campaign) {
  return (yield* (yield* CampaignRepository).summaries(organizationId, [id])).get(id)!.program
})
