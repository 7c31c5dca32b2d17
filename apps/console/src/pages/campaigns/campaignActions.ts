import { throwawaySeal } from "@outreach/backoffice/hits/throwawaySeal"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { changeRate, commandCampaign } from "@outreach/domain/campaigns/Campaigns"
import { EmailAddress } from "@outreach/domain/recipients/EmailAddress"
import { noneOr, wholeNumber } from "@outreach/domain/textSchema"
import { sendTestMail } from "@outreach/mail/sendTestMail"
import { Effect, Schema } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { formatCount } from "../../components/format.ts"
import { field, required } from "../../http/inputs.ts"
import { defineAction, refuse } from "../../http/Route.ts"
import { refuseStale } from "../../http/refuseStale.ts"

export const pauseCampaign = defineAction("/campaigns/:campaign/pause", "campaigns pause", {
  role: "operator",
  run: ({ campaign }) => Effect.as(commandCampaign(campaign, "pause"), "Paused. Messages in flight are still sent."),
})

export const cancelCampaign = defineAction("/campaigns/:campaign/cancel", "campaigns cancel", {
  role: "admin",
  inputs: {
    name: required(field(Schema.String.annotate({ expected: "the campaign's name" }), "Type the campaign's name")),
  },
  run: Effect.fnUntraced(function* ({ campaign, name }) {
    const found = yield* (yield* CampaignRepository).find(campaign)
    if (name !== found.name.trim()) {
      return yield* refuse("NameDiffers", `Type the campaign's name to cancel it: ${found.name}. Nothing was changed.`)
    }
    yield* commandCampaign(campaign, "cancel")
    return "Cancelled for good. What was sent stays sent."
  }),
})

/** Returns a campaign's rate as its form has it, which is also the version of the form. */
export const rateText = (perMinute: number | null): string => (perMinute === null ? "none" : String(perMinute))

export const changeCampaignRate = defineAction("/campaigns/:campaign/rate", "campaigns rate", {
  role: "operator",
  inputs: {
    "per-minute": required(
      field(noneOr(wholeNumber(1, 1_000_000, "a number of e-mails")), "E-mails a minute, or none", { size: 10 }),
    ),
  },
  run: Effect.fnUntraced(function* ({ campaign, "per-minute": perMinute }, { version }) {
    const now = Effect.map((yield* CampaignRepository).find(campaign), (found) => ({ Rate: rateText(found.perMinute) }))
    yield* refuseStale(now, { Rate: rateText(perMinute) })(changeRate(campaign, perMinute, version))
    return `Rate changed. ${perMinute === null ? "No bound of its own." : `At most ${formatCount(perMinute)} e-mails a minute.`}`
  }),
})

/** Sends a test message to an address, which no log repeats. */
export const sendCampaignTest = defineAction("/campaigns/:campaign/test", "campaigns test", {
  role: "operator",
  inputs: { to: required(field(EmailAddress, "Your own address", { inputmode: "email", size: 24 })) },
  run: Effect.fnUntraced(function* ({ campaign, to }) {
    const { smtp, publicBaseUrl } = yield* ConsoleConfig
    if (smtp === null) {
      return yield* refuse(
        "NoMailServer",
        "The console has no SMTP_URL, so it sends nothing. Set SMTP_URL and MAIL_FROM as the worker's, or run ops campaigns test.",
      )
    }
    const found = yield* (yield* CampaignRepository).find(campaign)
    yield* sendTestMail(found, to, { ...smtp, publicBaseUrl }).pipe(Effect.provide(throwawaySeal))
    return "Test message sent: the mail server took it. Its links record nothing."
  }),
})
