import { throwawaySeal } from "@outreach/backoffice/hits/throwawaySeal"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { smtpSettings } from "@outreach/mail/smtpSettings"
import { publicBaseUrl } from "@outreach/process/settings"
import { Effect } from "effect"
import { changing } from "../Declaration.ts"
import { campaignId } from "../inputs/filters.ts"
import { flag } from "../inputs/Input.ts"

// Loaded when the flag is given, because it loads the contract's schemas.
const emailAddress = Effect.promise(async () => (await import("@outreach/domain/recipients/EmailAddress")).EmailAddress)

/** `ops campaigns test` */
export const sendTest = changing({
  about: "Send one real message, marked as a test, to your own address; its links are not valid and record nothing",
  examples: ["ops campaigns test cmp_… --to me@acme.example"],
  input: { campaignId, to: flag(emailAddress, "The address that gets the message", "address") },
  *run({ campaignId, to }) {
    const settings = { ...(yield* smtpSettings), publicBaseUrl: yield* publicBaseUrl }
    const campaign = yield* CampaignRepository.use(({ find }) => find(campaignId))
    // Loaded here, because no other command renders a message and sends it.
    const { sendTestMail } = yield* Effect.promise(() => import("@outreach/mail/sendTestMail"))
    const sent = yield* Effect.provide(sendTestMail(campaign, to, settings), throwawaySeal)
    return { campaignId, ...sent }
  },
})
