import { Effect } from "effect"
import type { CampaignId } from "../Identifier.ts"
import { addPlainFooter, wrapInPlainLayout } from "../mail/wrapInPlainLayout.ts"
import { IncompleteFollowUp, PreheaderWithoutLayout } from "./CampaignErrors.ts"
import { createCampaign, type NewCampaign } from "./Campaigns.ts"
import type { FollowUp } from "./FollowUp.ts"

/** A campaign as an operator describes it, with each part of a follow-up on its own. */
interface CampaignDraft extends Omit<NewCampaign, "followUp"> {
  /** `plain` wraps the HTML, and gives the text a footer. */
  readonly layout: "none" | "plain"
  readonly preheader?: string
  readonly followUpOf?: CampaignId
  readonly unless?: FollowUp["unless"]
  readonly after?: number
}

/** Creates a draft campaign of what an operator has described. */
export const draftCampaign = Effect.fnUntraced(function* (draft: CampaignDraft) {
  const { layout, preheader, html, text = null, ...others } = draft
  const { followUpOf, unless, after, ...campaign } = others
  if (preheader !== undefined && layout !== "plain") return yield* new PreheaderWithoutLayout()
  const follows = followUpOf !== undefined && unless !== undefined && after !== undefined
  if (!follows && (followUpOf ?? unless ?? after) !== undefined) return yield* new IncompleteFollowUp()
  return yield* createCampaign({
    ...campaign,
    ...(follows && { followUp: { followUpOf, unless, afterSeconds: after } }),
    html: layout === "plain" ? wrapInPlainLayout(html, preheader) : html,
    text: text !== null && layout === "plain" ? addPlainFooter(text) : text,
  })
})
