import { Effect } from "effect"
import { addPlainFooter, wrapInPlainLayout } from "../mail/wrapInPlainLayout.ts"
import { PreheaderWithoutLayout } from "./CampaignErrors.ts"
import { createCampaign, type NewCampaign } from "./Campaigns.ts"

/** A campaign as an operator describes it. */
interface CampaignDraft extends NewCampaign {
  /** `plain` wraps the HTML, and gives the text a footer. */
  readonly layout: "none" | "plain"
  readonly preheader?: string
}

/** Creates a draft campaign of what an operator has described. */
export const draftCampaign = Effect.fnUntraced(function* (draft: CampaignDraft) {
  const { layout, preheader, html, text = null, ...campaign } = draft
  if (preheader !== undefined && layout !== "plain") return yield* new PreheaderWithoutLayout()
  return yield* createCampaign({
    ...campaign,
    html: layout === "plain" ? wrapInPlainLayout(html, preheader) : html,
    text: text !== null && layout === "plain" ? addPlainFooter(text) : text,
  })
})
