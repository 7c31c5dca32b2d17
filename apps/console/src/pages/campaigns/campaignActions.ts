import { throwawaySeal } from "@outreach/backoffice/hits/throwawaySeal"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { changeRate, commandCampaign } from "@outreach/domain/campaigns/Campaigns"
import { EmailAddress } from "@outreach/domain/recipients/EmailAddress"
import { noneOr, wholeNumber } from "@outreach/domain/textSchema"
import { sendTestMail } from "@outreach/mail/sendTestMail"
import { Effect, Schema } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { formatCount } from "../../components/format.ts"
import { required } from "../../http/inputs.ts"
import { defineAction } from "../../http/Route.ts"
import { refuseStale } from "../../http/refuseStale.ts"

export const pauseCampaign = defineAction({
  path: "/campaigns/:campaign/pause",
  role: "operator",
  command: "campaigns pause",
  run: Effect.fnUntraced(function* ({ campaign }) {
    yield* commandCampaign(campaign, "pause")
    return { to: `/campaigns/${campaign}`, notice: "Paused. Messages in flight are still sent." }
  }),
})

class NameDiffers extends Schema.TaggedError<NameDiffers>()("NameDiffers", { name: Schema.String }) {
  override get message(): string {
    return `Type the campaign's name to cancel it: ${this.name}. Nothing was changed.`
  }
}

export const cancelCampaign = defineAction({
  path: "/campaigns/:campaign/cancel",
  role: "admin",
  command: "campaigns cancel",
  fields: { name: required(Schema.String.annotate({ expected: "the campaign's name" })) },
  run: Effect.fnUntraced(function* ({ campaign, name }) {
    const found = yield* (yield* CampaignRepository).find(campaign)
    if (name !== found.name.trim()) return yield* new NameDiffers({ name: found.name })
    yield* commandCampaign(campaign, "cancel")
    return { to: `/campaigns/${campaign}`, notice: "Cancelled for good. What was sent stays sent." }
  }),
})

/** Returns a campaign's rate as its form has it, which is also the version of the form. */
export const rateText = (perMinute: number | null): string => (perMinute === null ? "none" : String(perMinute))

/** Changes how many e-mails of a campaign go out in a minute. */
export const changeCampaignRate = defineAction({
  path: "/campaigns/:campaign/rate",
  role: "operator",
  command: "campaigns rate",
  fields: { "per-minute": required(noneOr(wholeNumber(1, 1_000_000, "a number of e-mails"))) },
  run: Effect.fnUntraced(function* ({ campaign, "per-minute": perMinute }, { version }) {
    const now = Effect.map((yield* CampaignRepository).find(campaign), (found) => ({ Rate: rateText(found.perMinute) }))
    yield* refuseStale(now, { Rate: rateText(perMinute) })(changeRate(campaign, perMinute, version))
    const notice = perMinute === null ? "No bound of its own." : `At most ${formatCount(perMinute)} e-mails a minute.`
    return { to: `/campaigns/${campaign}`, notice: `Rate changed. ${notice}` }
  }),
})

class NoMailServer extends Schema.TaggedError<NoMailServer>()("NoMailServer", {}) {
  override get message(): string {
    return "The console has no SMTP_URL, so it sends nothing. Set SMTP_URL and MAIL_FROM as the worker's, or run ops campaigns test."
  }
}

/** Sends a test message to an address, which no log repeats. */
export const sendCampaignTest = defineAction({
  path: "/campaigns/:campaign/test",
  role: "operator",
  command: "campaigns test",
  fields: { to: required(EmailAddress) },
  run: Effect.fnUntraced(function* ({ campaign, to }) {
    const { smtp, publicBaseUrl } = yield* ConsoleConfig
    if (smtp === null) return yield* new NoMailServer()
    const found = yield* (yield* CampaignRepository).find(campaign)
    yield* sendTestMail(found, to, { ...smtp, publicBaseUrl }).pipe(Effect.provide(throwawaySeal))
    return {
      to: `/campaigns/${campaign}`,
      notice: "Test message sent: the mail server took it. Its links record nothing.",
    }
  }),
})
