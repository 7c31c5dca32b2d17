import { Effect } from "effect"
import { addPlainFooter, wrapInPlainLayout } from "../mail/wrapInPlainLayout.ts"
import { createCampaign, type NewCampaign } from "./Campaigns.ts"

/** A campaign described by an operator. */
interface CampaignDraft extends NewCampaign {
  /** `plain` wraps the HTML, and adds a footer to the text. */
  readonly layout: "none" | "plain"
}

/** Creates a draft campaign from an operator's description. */
export const draftCampaign = Effect.fnUntraced(function* (draft: CampaignDraft) {
  const { layout, html, text = null, ...campaign } = draft
  return yield* createCampaign({
    ...campaign,
    html: layout === "plain" ? wrapInPlainLayout(html) : html,
    text: text !== null && layout === "plain" ? addPlainFooter(text) : text,
  })
})
