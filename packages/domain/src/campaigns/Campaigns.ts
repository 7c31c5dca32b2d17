import { Clock, Effect, Record, Struct } from "effect"
import { ChangedMeanwhile } from "../DescribedError.ts"
import { type CampaignId, createIdentifier } from "../Identifier.ts"
import { findMissingDetails } from "../mail/templates/findHiddenDetails.ts"
import { findInvalidTemplate, shortLinkTo } from "../mail/templates/Template.ts"
import { addPlainFooter, readLayout, wrapInPlainLayout } from "../mail/templates/wrapInPlainLayout.ts"
import type { Program } from "../programs/Program.ts"
import { ProgramArchived, ProgramRepository, ProgramWithoutSender } from "../programs/Programs.ts"
import { fromUnixMillis } from "../Timestamp.ts"
import { MAX_NAME_LENGTH } from "../textSchema.ts"
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
  FixedAfterScheduling,
  InvalidShortLink,
  InvalidTemplate,
  InvalidWindow,
  LIVE_FIELDS,
  SenderNotShown,
} from "./CampaignRepository.ts"
import { checkCampaign } from "./Preflights.ts"
import { failedChecks, type PreflightCheck } from "./preflight.ts"

/** The e-mail of a campaign as operators write it. */
type WrittenMail = Pick<Campaign, "subject" | "html"> &
  Partial<Pick<Campaign, "preheader" | "text" | "shortLink" | "fields">> & {
    /** `plain` wraps the HTML, and adds a footer to the text. Default `none`. */
    readonly layout?: "none" | "plain"
  }

/** A campaign to create. */
export type NewCampaign = WrittenMail &
  Pick<Campaign, "programId" | "name" | "kind" | "windowStart" | "windowEnd"> &
  Partial<Pick<Campaign, "perMinute" | "pauseOnComplaints">>

/** Applies the layout to a written e-mail. Its templates must render and show the sender's details. */
const composeContent = Effect.fnUntraced(function* (written: WrittenMail, program: Program) {
  const { layout, subject, preheader = null, shortLink = null, fields = [] } = written
  const { text: ownText = null } = written
  const text = ownText !== null && layout === "plain" ? addPlainFooter(ownText) : ownText
  const html = layout === "plain" ? wrapInPlainLayout(written.html) : written.html
  const content = { subject, preheader, html, text, shortLink, fields }
  if (shortLink !== null && !isShortLink(shortLink)) return yield* new InvalidShortLink({ shortLink })
  const { senderName, postalAddress, id: programId } = program
  if (senderName === null || postalAddress === null) return yield* new ProgramWithoutSender({ programId })
  const invalid = findInvalidTemplate(content, program)
  if (invalid !== undefined) return yield* new InvalidTemplate(invalid)
  const hidden = findMissingDetails(content, program)
  for (const part of ["html", "text"] as const) {
    if (hidden[part].length > 0) return yield* new SenderNotShown({ part, missing: hidden[part] })
  }
  return content
})

/** Creates a draft campaign. Its templates must render and show the sender's details, and its window must end in the future. */
export const createCampaign = Effect.fn("Campaigns.createCampaign")(function* (draft: NewCampaign) {
  const { programId, name, kind, windowStart, windowEnd, perMinute = null, pauseOnComplaints = false } = draft
  const program = yield* (yield* ProgramRepository).find(programId)
  if (program.status === "archived") return yield* new ProgramArchived({ programId })
  const content = yield* composeContent(draft, program)
  yield* checkWindow(draft)
  const id = yield* createIdentifier("campaign")
  const settings = { perMinute, pauseOnComplaints, windowStart, windowEnd }
  return yield* (yield* CampaignRepository).create({ id, programId, name, kind, ...content, ...settings })
})

/** Creates a draft with the content and settings of another campaign and without recipients. Preflight checks it. */
export const duplicateCampaign = Effect.fn("Campaigns.duplicateCampaign")(function* (
  campaignId: CampaignId,
  ownName?: string,
) {
  const campaigns = yield* CampaignRepository
  const campaign = yield* campaigns.find(campaignId)
  const name = ownName ?? `Copy of ${campaign.name}`.slice(0, MAX_NAME_LENGTH)
  return yield* campaigns.create({ ...campaign, id: yield* createIdentifier("campaign"), name })
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
  return yield* (yield* CampaignRepository).move(campaignId, from, to, {
    stop: { stoppedBy: null, stopReason: null, ...stop },
  })
})

/**
 * Schedules or resumes a campaign. Rejects a campaign with failed checks, except those in `force`, and one that was edited after
 * `version` or during the checks.
 */
export const scheduleCampaign = Effect.fn("Campaigns.scheduleCampaign")(function* (
  campaignId: CampaignId,
  options: {
    readonly command?: Scheduling
    readonly force?: ReadonlyArray<PreflightCheck["check"]>
    readonly version?: string | undefined
  } = {},
) {
  const { command = "schedule", force = [], version } = options
  const campaigns = yield* CampaignRepository
  const { from, to } = TRANSITIONS[command]
  const { editedAt } = yield* findVersion(campaignId, from, version)
  const checks = yield* checkCampaign(campaignId)
  const failed = failedChecks(checks).filter((check) => !force.includes(check))
  if (failed.length > 0) return yield* new CampaignNotReady({ campaignId, failed, checks })
  return yield* campaigns.move(campaignId, from, to, { editedAt })
})

/** Changes of a campaign, with its e-mail as operators write it. */
export type CampaignEdits = CampaignChanges & Pick<WrittenMail, "layout">

/** Changes a draft. After scheduling, changes only the rate and whether complaints pause it. With a `version`, rejects a later one. */
export const updateCampaign = Effect.fn("Campaigns.updateCampaign")(function* (
  campaignId: CampaignId,
  edits: CampaignEdits,
  version?: string,
) {
  const campaign = yield* findVersion(campaignId, OPEN, version)
  const { status } = campaign
  const isLive = Struct.keys(edits).every((key) => edits[key] === undefined || LIVE.has(key))
  if (!isLive && status !== "draft") return yield* new FixedAfterScheduling({ campaignId, status })
  const { windowStart, windowEnd } = edits
  if (windowStart !== undefined || windowEnd !== undefined) {
    yield* checkWindow({ windowStart: windowStart ?? campaign.windowStart, windowEnd: windowEnd ?? campaign.windowEnd })
  }
  const changes = yield* composeEdits(campaign, edits)
  return yield* (yield* CampaignRepository).update(campaign, isLive ? OPEN : ["draft"], changes)
})

/** Returns the changes of a campaign with the layout applied, after checking the changed e-mail. An e-mail keeps its layout by default. */
export const composeEdits = Effect.fnUntraced(function* (campaign: Campaign, { layout, ...changes }: CampaignEdits) {
  const edited = { layout, ...Struct.pick(changes, MAIL) }
  const given = Record.filter(edited as Record<string, unknown>, (value) => value !== undefined)
  if (Object.keys(given).length === 0) return changes
  const program = yield* (yield* ProgramRepository).find(campaign.programId)
  return { ...changes, ...(yield* composeContent({ ...campaign, ...readLayout(campaign), ...given }, program)) }
})

/** Finds a campaign with its e-mail as it was written, without its layout. */
export const findWritten = (campaignId: CampaignId) =>
  Effect.map(
    CampaignRepository.use(({ find }) => find(campaignId)),
    (campaign) => ({ ...campaign, ...readLayout(campaign) }),
  )

const OPEN = CAMPAIGN_STATUSES.filter((each) => !CLOSED.includes(each))
const LIVE: ReadonlySet<string> = new Set(LIVE_FIELDS)
const MAIL = ["subject", "preheader", "html", "text", "shortLink", "fields"] as const

/** Finds a campaign with one of the statuses. With a `version`, fails if it was edited after it. */
const findVersion = Effect.fnUntraced(function* (
  campaignId: CampaignId,
  wanted: ReadonlyArray<CampaignStatus>,
  version: string | undefined,
) {
  const campaign = yield* findInStatus(campaignId, wanted)
  return version === undefined || version === campaign.editedAt
    ? campaign
    : yield* new ChangedMeanwhile({ id: campaignId })
})

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
