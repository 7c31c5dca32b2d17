import { suspect } from "@outreach/bot-suspicion"
import { Context, Effect } from "effect"
import { composeEvent, EventPublisher } from "../events/Event.ts"
import { createIdentifier, type OrganizationId, type RecipientId } from "../Identifier.ts"
import { inTransaction, Transaction } from "../Transaction.ts"
import type { Hit, JudgedHit, WaitingHit } from "./Hit.ts"

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
