import { type Reason, suspect } from "@outreach/bot-suspicion"
import { Context, Effect, Schema } from "effect"
import { composeEvent, type EventDraft, EventPublisher } from "../events/Event.ts"
import { CampaignId, createIdentifier, HitId, OrganizationId, ProgramId, RecipientId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"
import { inTransaction, Transaction } from "../Transaction.ts"

/** Maximum hits of a recipient's link per clock minute that are stored and forwarded individually: from one network, and in total. */
export const MAX_HITS_PER_MINUTE = { network: 20, link: 40 } as const
/** Maximum wait of a hit for its message's acceptance: scanners follow links before the mail server responds. */
export const MAX_JUDGMENT_DELAY_SECONDS = 60
/** Age of earlier hits that matter for classifying the next one. */
export const EARLIER_HITS_SECONDS = 2
export const MAX_EARLIER_HITS = 100

/** A request for the pixel or a link of a recipient's message, as received. */
export const Hit = Schema.Struct({
  id: HitId,
  organizationId: OrganizationId,
  recipientId: RecipientId,
  /** Target of the link; null for the pixel. */
  link: Schema.NullOr(Schema.String),
  method: Schema.String,
  address: Schema.String,
  /** Header fields that identify the client, by lowercase name. */
  headers: Schema.Record(Schema.String, Schema.String),
})
export type Hit = typeof Hit.Type

/** A hit waiting for classification, with data about its recipient's message. */
export const WaitingHit = Schema.Struct({
  ...Hit.fields,
  campaignId: CampaignId,
  programId: ProgramId,
  token: Schema.String,
  receivedAt: Timestamp,
  /** Unix seconds with fractions, like the next two. */
  at: Schema.Number,
  /** When the mail server accepted the message; null if it didn't, or if unknown. */
  acceptedAt: Schema.NullOr(Schema.Number),
  /** Latest clicks on links of the same message, at most `MAX_EARLIER_HITS` within `EARLIER_HITS_SECONDS`. */
  earlierHits: Schema.Array(Schema.Struct({ at: Schema.Number, link: Schema.String })),
})
export type WaitingHit = typeof WaitingHit.Type

/** A classified hit: the reasons of its suspicion, if any, and its event. */
interface JudgedHit {
  readonly id: HitId
  readonly reasons: ReadonlyArray<Reason>
  readonly event: EventDraft
}

/** Stores hits as received, with their classification. */
export class HitRepository extends Context.Service<
  HitRepository,
  {
    /**
     * Stores each hit once, with its time by this process's clock. Excludes hits of unknown recipients.
     *
     * The first `MAX_HITS_PER_MINUTE` of a link are stored, per network and in total. Further ones are counted on the last stored hit.
     */
    record(hits: ReadonlyArray<Hit & { readonly cameAt: number }>): Effect.Effect<void>
    waiting: Effect.Effect<ReadonlyArray<OrganizationId>>
    /** Locks an organization's oldest waiting hits of accepted messages, or that are `MAX_JUDGMENT_DELAY_SECONDS` old. */
    lockWaiting(organizationId: OrganizationId, limit: number): Effect.Effect<ReadonlyArray<WaitingHit>>
    /** Marks an organization's hits as classified, and locks their recipients. Returns those that aren't erased. */
    markJudged(
      organizationId: OrganizationId,
      judged: ReadonlyArray<JudgedHit>,
    ): Effect.Effect<ReadonlySet<RecipientId>>
  }
>()("domain/hits/HitRepository") {}

const JUDGE_BATCH_SIZE = 500

/** Classifies an organization's oldest waiting hits and publishes them as opens and clicks, in one transaction. Returns their number. */
export const judgeHits = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const repository = yield* HitRepository
  const hits = yield* repository.lockWaiting(organizationId, JUDGE_BATCH_SIZE)
  if (hits.length === 0) return 0
  const judged = yield* Effect.forEach(hits, judgeHit)
  const recipients = yield* repository.markJudged(organizationId, judged)
  const at = yield* (yield* Transaction).commitTimestamp(organizationId)
  // A recipient erased after the hits were read has no events.
  const events = judged.map(({ event }) => event).filter(({ recipientId }) => recipients.has(recipientId!))
  yield* (yield* EventPublisher).publish(events, at)
  return hits.length
}, inTransaction)

const judgeHit = Effect.fnUntraced(function* (hit: WaitingHit) {
  const { at, method, headers, address, link, acceptedAt, earlierHits, receivedAt } = hit
  const { suspected, reasons } = suspect(
    { at, method, headers, address, link: link ?? undefined },
    { acceptedAt: acceptedAt ?? undefined, earlierHits },
  )
  const about = {
    id: yield* createIdentifier("event"),
    organizationId: hit.organizationId,
    campaignId: hit.campaignId,
    programId: hit.programId,
    recipientId: hit.recipientId,
    occurredAt: receivedAt,
  }
  const data = {
    service_campaign_id: hit.campaignId,
    service_program_id: hit.programId,
    token: hit.token,
    is_bot_suspected: suspected,
  }
  const event =
    link === null
      ? composeEvent("outreach.email_opened", about, { ...data, opened_at: receivedAt })
      : composeEvent("outreach.email_clicked", about, { ...data, clicked_at: receivedAt })
  return { id: hit.id, reasons, event } satisfies JudgedHit
})
