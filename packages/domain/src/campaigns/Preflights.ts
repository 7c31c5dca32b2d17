import { Clock, Effect } from "effect"
import { Deployment, PreflightSettings } from "../Deployment.ts"
import { EndpointRepository } from "../deliveries/Endpoints.ts"
import { SigningSecretRepository } from "../deliveries/SigningSecrets.ts"
import type { CampaignId } from "../Identifier.ts"
import { findMissingDetails } from "../mail/templates/findHiddenDetails.ts"
import { createFieldsCheck, findInvalidTemplate } from "../mail/templates/Template.ts"
import { ProgramRepository } from "../programs/Programs.ts"
import { type RecipientPosition, RecipientRepository } from "../recipients/Recipient.ts"
import type { Sender } from "../senders/Sender.ts"
import { SenderRepository } from "../senders/Senders.ts"
import { toUnixMillis } from "../Timestamp.ts"
import type { Campaign } from "./Campaign.ts"
import { CampaignRepository } from "./CampaignRepository.ts"
import { preflight } from "./preflight.ts"

/** The number of recipients with checked fields: the first imported ones, because an operator may have edited the e-mail since then. */
const FIELDS_CHECKED = 100

export const checkCampaign = Effect.fn("Preflights.checkCampaign")(function* (campaignId: CampaignId) {
  const { livemode } = yield* Deployment
  const { signsMail, publicBaseUrl } = yield* PreflightSettings
  const campaigns = yield* CampaignRepository
  const programs = yield* ProgramRepository
  const senders = yield* SenderRepository
  const campaign = yield* campaigns.find(campaignId)
  const { organizationId, programId, status, fields } = campaign
  const { pageWaiting } = yield* RecipientRepository
  // Concurrent, because a page waits for them.
  const { sender, endpoints, secrets, oldest, ...known } = yield* Effect.all(
    {
      program: Effect.orDie(programs.find(programId)),
      completers: programs.countCompleters(organizationId, programId),
      progress: campaigns.progress(campaignId),
      sender: senders.ofCampaign(campaignId),
      senders: senders.list(organizationId),
      endpoints: (yield* EndpointRepository).list(organizationId),
      secrets: (yield* SigningSecretRepository).list({ organizationId }),
      oldest:
        status === "draft" && fields.length > 0
          ? pageWaiting(organizationId, campaignId, undefined, FIELDS_CHECKED)
          : Effect.succeed([]),
    },
    { concurrency: 3 },
  )
  const keys = known.senders.find(({ id }) => id === sender?.id)?.keys ?? []
  const enabled = endpoints.filter(({ enabled }) => enabled)
  const invalid = findInvalidTemplate(campaign, known.program)
  const checkFields = invalid ? () => undefined : createFieldsCheck(campaign)
  const now = yield* Clock.currentTimeMillis
  const active = secrets.filter(({ expiresAt }) => expiresAt === null || toUnixMillis(expiresAt) > now)
  const signers = new Set(active.map(({ endpointId }) => endpointId))
  return preflight({
    ...known,
    campaign,
    livemode,
    publicBaseUrl,
    invalid,
    unrendered: oldest.flatMap(({ fields }) => checkFields(fields) ?? [])[0],
    missing: invalid ? [] : [...new Set(Object.values(findMissingDetails(campaign, known.program)).flat())],
    sender,
    isSigned: sender === null ? signsMail : keys.some(({ isSigning }) => isSigning),
    waitingSenderId: waitingSender(campaign, sender, known.senders),
    endpoints: {
      enabled: enabled.length,
      disabled: endpoints.length - enabled.length,
      failing: enabled.filter(({ breaker }) => breaker === "open" || breaker === "probing").length,
    },
    unsigned: enabled.filter(({ id, ownSecrets }) => !signers.has(ownSecrets ? id : null)).length,
    now,
  })
})

/** Returns the sender that will send the campaign when it is live; null if there is none. */
const waitingSender = (
  { programId }: Campaign,
  sender: Sender | null,
  senders: ReadonlyArray<Sender>,
): string | null => {
  const waiting = senders.filter(({ liveSince }) => liveSince === null)
  const ofProgram = waiting.find((each) => each.programId === programId)
  const ofOrganization = sender === null ? waiting.find((each) => each.programId === null) : undefined
  return (ofProgram ?? ofOrganization)?.id ?? null
}

const BATCH_SIZE = 1000

/** Counts recipients waiting for a campaign's message, and those with a message that would not render; lists the first ones. */
export const findUnrendered = Effect.fn("Preflights.findUnrendered")(function* (campaign: Campaign, limit: number) {
  const recipients = yield* RecipientRepository
  const check = createFieldsCheck(campaign)
  const first: Array<{ readonly token: string; readonly reason: string }> = []
  let [checked, unrendered] = [0, 0]
  let after: RecipientPosition | undefined
  do {
    const page = yield* recipients.pageWaiting(campaign.organizationId, campaign.id, after, BATCH_SIZE)
    for (const { token, fields } of page) {
      const reason = check(fields)
      if (reason === undefined) continue
      unrendered++
      if (first.length < limit) first.push({ token, reason })
    }
    checked += page.length
    after = page.length < BATCH_SIZE ? undefined : page.at(-1)
  } while (after !== undefined)
  return { checked, unrendered, first }
})
