import { Clock, Effect } from "effect"
import { Deployment } from "../Deployment.ts"
import { EndpointRepository } from "../deliveries/EndpointRepository.ts"
import { SigningSecretRepository } from "../deliveries/SigningSecretRepository.ts"
import type { CampaignId } from "../Identifier.ts"
import { ProgramRepository } from "../programs/ProgramRepository.ts"
import type { Sender } from "../senders/Sender.ts"
import { SenderRepository } from "../senders/SenderRepository.ts"
import { toUnixMillis } from "../Timestamp.ts"
import type { Campaign } from "./Campaign.ts"
import { CampaignRepository } from "./CampaignRepository.ts"
import { findMissingDetails } from "./findMissingDetails.ts"
import { PreflightSettings } from "./PreflightSettings.ts"
import { preflight } from "./preflight.ts"

export const checkCampaign = Effect.fn("Preflights.checkCampaign")(function* (campaignId: CampaignId) {
  const { livemode } = yield* Deployment
  const { signsMail, publicBaseUrl } = yield* PreflightSettings
  const campaigns = yield* CampaignRepository
  const programs = yield* ProgramRepository
  const senders = yield* SenderRepository
  const campaign = yield* campaigns.find(campaignId)
  const { organizationId, programId } = campaign
  // Concurrent, because a page waits for them.
  const { sender, endpoints, secrets, ...known } = yield* Effect.all(
    {
      program: Effect.orDie(programs.find(programId)),
      completers: programs.countCompleters(organizationId, programId),
      progress: campaigns.progress(campaignId),
      sender: senders.ofCampaign(campaignId),
      senders: senders.list(organizationId),
      endpoints: (yield* EndpointRepository).list(organizationId),
      secrets: (yield* SigningSecretRepository).list({ organizationId }),
    },
    { concurrency: 3 },
  )
  const keys = known.senders.find(({ id }) => id === sender?.id)?.keys ?? []
  const enabled = endpoints.filter(({ enabled }) => enabled)
  const now = yield* Clock.currentTimeMillis
  const active = secrets.filter(({ expiresAt }) => expiresAt === null || toUnixMillis(expiresAt) > now)
  const signers = new Set(active.map(({ endpointId }) => endpointId))
  return preflight({
    ...known,
    campaign,
    livemode,
    publicBaseUrl,
    missing: [...new Set(Object.values(findMissingDetails(campaign, known.program)).flat())],
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
