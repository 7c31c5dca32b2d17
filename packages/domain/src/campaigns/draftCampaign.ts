import { Effect } from "effect"
import type { CampaignId } from "../Identifier.ts"
import { addPlainFooter, wrapInPlainLayout } from "../mail/wrapInPlainLayout.ts"
import { IncompleteFollowUp, IncompleteSubjectTest, PreheaderWithoutLayout } from "./CampaignErrors.ts"
import { createCampaign, type NewCampaign } from "./Campaigns.ts"
import type { FollowUp } from "./FollowUp.ts"

/** A campaign as an operator describes it, with each part of a subject test and of a follow-up on its own. */
interface CampaignDraft extends Omit<NewCampaign, "subjectTest" | "followUp"> {
  /** `plain` wraps the HTML, and gives the text a footer. */
  readonly layout: "none" | "plain"
  readonly preheader?: string
  readonly subjectB?: string
  /** In percent of the recipients. */
  readonly abShare?: number
  readonly abAfter?: number
  readonly followUpOf?: CampaignId
  readonly unless?: FollowUp["unless"]
  readonly after?: number
}

/** Creates a draft campaign of what an operator has described. */
export const draftCampaign = Effect.fnUntraced(function* (draft: CampaignDraft) {
  const { layout, preheader, html, text = null, ...others } = draft
  const { subjectB, abShare, abAfter, followUpOf, unless, after, ...campaign } = others
  if (preheader !== undefined && layout !== "plain") return yield* new PreheaderWithoutLayout()
  const hasTest = subjectB !== undefined && abShare !== undefined
  if (!hasTest && (subjectB ?? abShare ?? abAfter) !== undefined) return yield* new IncompleteSubjectTest()
  const follows = followUpOf !== undefined && unless !== undefined && after !== undefined
  if (!follows && (followUpOf ?? unless ?? after) !== undefined) return yield* new IncompleteFollowUp()
  return yield* createCampaign({
    ...campaign,
    ...(hasTest && { subjectTest: { subjectB, share: abShare, afterSeconds: abAfter ?? null } }),
    ...(follows && { followUp: { followUpOf, unless, afterSeconds: after } }),
    html: layout === "plain" ? wrapInPlainLayout(html, preheader) : html,
    text: text !== null && layout === "plain" ? addPlainFooter(text) : text,
  })
})
