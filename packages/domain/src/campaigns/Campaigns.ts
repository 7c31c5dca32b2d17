import { Clock, Effect } from "effect"
import { type CampaignId, createIdentifier } from "../Identifier.ts"
import { findMissingDetails } from "../mail/templates/findHiddenDetails.ts"
import { checkTemplate, sampleVariables, shortLinkTo, templatesOf } from "../mail/templates/Template.ts"
import { addPlainFooter, wrapInPlainLayout } from "../mail/templates/wrapInPlainLayout.ts"
import { ProgramArchived, ProgramRepository, ProgramWithoutSender } from "../programs/Programs.ts"
import { fromUnixMillis } from "../Timestamp.ts"
import {
  CAMPAIGN_STATUSES,
  type Campaign,
  type CampaignStatus,
  CLOSED,
  type Command,
  type Scheduling,
  type Stop,
  TRANSITIONS,
} from "./Campaign.ts"
import {
  type CampaignChanges,
  CampaignNotInStatus,
  CampaignNotReady,
  CampaignRepository,
  InvalidShortLink,
  InvalidTemplate,
  InvalidWindow,
  SenderNotShown,
} from "./CampaignRepository.ts"
import { checkCampaign } from "./Preflights.ts"
import { failedChecks, type PreflightCheck } from "./preflight.ts"

/** A campaign to create. */
export type NewCampaign = Pick<
  Campaign,
  "programId" | "name" | "kind" | "subject" | "html" | "windowStart" | "windowEnd"
> &
  Partial<Pick<Campaign, "text" | "shortLink" | "fields" | "perMinute" | "pauseOnComplaints">> & {
    /** `plain` wraps the HTML, and adds a footer to the text. Default `none`. */
    readonly layout?: "none" | "plain"
  }

/** Creates a draft campaign. Its templates must render and show the sender's details, and its window must end in the future. */
export const createCampaign = Effect.fn("Campaigns.createCampaign")(function* ({
  layout = "none",
  ...draft
}: NewCampaign) {
  const { text: ownText = null, shortLink = null, fields = [], perMinute = null, pauseOnComplaints = false } = draft
  const text = ownText !== null && layout === "plain" ? addPlainFooter(ownText) : ownText
  const campaign = { ...draft, text, html: layout === "plain" ? wrapInPlainLayout(draft.html) : draft.html }
  if (shortLink !== null && !isShortLink(shortLink)) return yield* new InvalidShortLink({ shortLink })
  const { id: programId, status, ...program } = yield* (yield* ProgramRepository).find(campaign.programId)
  if (status === "archived") return yield* new ProgramArchived({ programId })
  const { senderName, postalAddress } = program
  if (senderName === null || postalAddress === null) return yield* new ProgramWithoutSender({ programId })
  const details = { sender_name: senderName, postal_address: postalAddress }
  const variables = { ...sampleVariables({ fields, shortLink }), ...details }
  for (const { part, template } of templatesOf(campaign)) {
    const reason = checkTemplate(template, part, variables)
    if (reason !== undefined) return yield* new InvalidTemplate({ part, reason })
  }
  const hidden = findMissingDetails({ ...campaign, fields, shortLink }, program)
  for (const part of ["html", "text"] as const) {
    if (hidden[part].length > 0) return yield* new SenderNotShown({ part, missing: hidden[part] })
  }
  yield* checkWindow(campaign)
  const id = yield* createIdentifier("campaign")
  const settings = { shortLink, fields, perMinute, pauseOnComplaints }
  return yield* (yield* CampaignRepository).create({ ...campaign, ...settings, id })
})

const isShortLink = (text: string): boolean =>
  text.split("{token}").length === 2 && /^https?:$/.test(URL.parse(shortLinkTo(text, "aB3dE9"))?.protocol ?? "")

/** Pauses or cancels a campaign, and records who did it and why. */
export const commandCampaign = Effect.fn("Campaigns.commandCampaign")(function* (
  campaignId: CampaignId,
  command: Exclude<Command, Scheduling>,
  stop: Partial<Stop> = {},
) {
  const { from, to } = TRANSITIONS[command]
  return yield* (yield* CampaignRepository).move(campaignId, from, to, { stoppedBy: null, stopReason: null, ...stop })
})

/** Schedules or resumes a campaign. Rejects a campaign with failed checks, except those in `force`. */
export const scheduleCampaign = Effect.fn("Campaigns.scheduleCampaign")(function* (
  campaignId: CampaignId,
  options: {
    readonly command?: Scheduling
    readonly force?: ReadonlyArray<PreflightCheck["check"]>
  } = {},
) {
  const { command = "schedule", force = [] } = options
  const campaigns = yield* CampaignRepository
  const { from, to } = TRANSITIONS[command]
  yield* findInStatus(campaignId, from)
  const checks = yield* checkCampaign(campaignId)
  const failed = failedChecks(checks).filter((check) => !force.includes(check))
  if (failed.length > 0) return yield* new CampaignNotReady({ campaignId, failed, checks })
  return yield* campaigns.move(campaignId, from, to)
})

/** Changes a campaign's rate, or whether complaints pause it. */
export const updateCampaign = Effect.fn("Campaigns.updateCampaign")(function* (
  campaignId: CampaignId,
  changes: CampaignChanges,
  version?: string,
) {
  yield* findInStatus(campaignId, OPEN)
  return yield* (yield* CampaignRepository).update(campaignId, changes, version)
})

const OPEN = CAMPAIGN_STATUSES.filter((each) => !CLOSED.includes(each))

/** Finds a campaign. Fails if it has none of the statuses. */
export const findInStatus = Effect.fnUntraced(function* (
  campaignId: CampaignId,
  wanted: ReadonlyArray<CampaignStatus>,
) {
  const campaign = yield* (yield* CampaignRepository).find(campaignId)
  const { status } = campaign
  return wanted.includes(status) ? campaign : yield* new CampaignNotInStatus({ campaignId, status, wanted })
})

/** Pauses campaigns with the option and too many complaints. */
export const pauseOnComplaints = Effect.gen(function* () {
  for (const paused of yield* (yield* CampaignRepository).pauseOnComplaints) {
    yield* Effect.logWarning("campaign paused because of complaints").pipe(Effect.annotateLogs({ ...paused }))
  }
})

const checkWindow = Effect.fnUntraced(function* (window: Pick<Campaign, "windowStart" | "windowEnd">) {
  if (window.windowStart >= window.windowEnd) {
    return yield* new InvalidWindow({ reason: "The send window must end after it starts." })
  }
  if (window.windowEnd <= fromUnixMillis(yield* Clock.currentTimeMillis)) {
    return yield* new InvalidWindow({ reason: `The send window ended at ${window.windowEnd}; choose a later one.` })
  }
})
