import { Array as Arr, Clock, Context, Effect } from "effect"
import { type CampaignStatus, UNDER_WAY } from "../campaigns/Campaign.ts"
import { DescribedError } from "../DescribedError.ts"
import { composeSent, EventPublisher } from "../events/Event.ts"
import { createIdentifier, type OrganizationId, type RecipientId, type RestoreId } from "../Identifier.ts"
import type { Recipient } from "../recipients/Recipient.ts"
import { fromUnixMillis, type Timestamp } from "../Timestamp.ts"
import { type CommitTimestamp, Transaction } from "../Transaction.ts"
import type { DatabaseState, Restore, RestoredCampaign, RestoredOrganization } from "./Restore.ts"

/** Stores restores, and applies their changes. */
export class RestoreRepository extends Context.Service<
  RestoreRepository,
  {
    /** Reads the latest restore; undefined if there is none. */
    readonly latest: Effect.Effect<Restore | undefined>
    /** Adds a restore, unless one is in progress. Returns it, or undefined. */
    create(id: RestoreId, restoredTo: Timestamp): Effect.Effect<Restore | undefined>
    /** Advances every organization's clock by the margin, and stores the earlier time. */
    fenceClocks(marginSeconds: number): Effect.Effect<void>
    /** Pauses campaigns with these statuses whose window may have started before the fence, and stores their statuses. */
    pauseCampaigns(statuses: ReadonlyArray<CampaignStatus>): Effect.Effect<void>
    /** Lists the campaigns paused by the latest restore. */
    readonly campaigns: Effect.Effect<ReadonlyArray<RestoredCampaign>>
    /** Lists the organizations with clocks fenced by the latest restore. */
    readonly organizations: Effect.Effect<ReadonlyArray<RestoredOrganization>>
    /** Finds recipients of all organizations. */
    findRecipients(ids: ReadonlyArray<RecipientId>): Effect.Effect<ReadonlyArray<Recipient>>
    /** Locks an organization's recipients who were neither sent to nor bounced, with their messages. Returns their ids. */
    lockUnsent(
      organizationId: OrganizationId,
      ids: ReadonlyArray<RecipientId>,
    ): Effect.Effect<ReadonlyArray<RecipientId>>
    /** Marks recipients as published, and removes their messages. */
    takeOutMailed(
      organizationId: OrganizationId,
      ids: ReadonlyArray<RecipientId>,
      at: CommitTimestamp,
    ): Effect.Effect<void>
    /** Records that a mail server's log was read completely. */
    noteMailLog(id: RestoreId): Effect.Effect<void>
    /** Restores the statuses of campaigns that the latest restore paused and that are still paused. */
    readonly resumeCampaigns: Effect.Effect<void>
    finish(id: RestoreId): Effect.Effect<void>
    /** Reads the database's identity, and whether it may be used for sending. */
    readonly databaseState: Effect.Effect<DatabaseState>
    /** Records the database's identity, if it is still the same. */
    record(identity: string): Effect.Effect<void>
    /** Records the identity of a lost server whose history this one lacks, so that the workers wait for an operator. */
    recordLost(identity: string): Effect.Effect<void>
    /** Records that a worker sees the database with the recorded identity. */
    readonly see: Effect.Effect<void>
  }
>()("domain/restores/RestoreRepository") {}

class RestoreUnderWay extends DescribedError(
  "RestoreUnderWay",
  "A restore to {restoredTo} is under way; `ops restores show` shows it, and `ops restores finish` ends it.",
) {}

class NoRestoreUnderWay extends DescribedError(
  "NoRestoreUnderWay",
  "No restore is in progress. `ops restores begin` starts one; `ops restores finish --promoted` resumes the workers after a failover without loss.",
) {}

/** The campaigns can't be resumed, because their e-mails after the restore point are unknown. */
class MailLogNotRead extends DescribedError(
  "MailLogNotRead",
  "Run `ops restores mark-sent --log FILE` with the complete log of the mail server first, or finish without --resume-campaigns and decide for each campaign.",
) {}

/** The time isn't in the past. */
class RestoredToFuture extends DescribedError(
  "RestoredToFuture",
  "{restoredTo} has not come yet; give the time to which the database was restored.",
) {}

/** Starts a restore: fences the clocks, and pauses campaigns that may have sent e-mails after the restore point. Sending stops until it is finished. */
export const beginRestore = Effect.fn("Restores.beginRestore")(function* (
  restoredTo: Timestamp,
  marginSeconds: number,
) {
  if (restoredTo > fromUnixMillis(yield* Clock.currentTimeMillis)) return yield* new RestoredToFuture({ restoredTo })
  const restores = yield* RestoreRepository
  const id = yield* createIdentifier("restore")
  const begin = Effect.gen(function* () {
    const restore = yield* restores.create(id, restoredTo)
    if (restore === undefined) return undefined
    yield* restores.fenceClocks(marginSeconds)
    yield* restores.pauseCampaigns(UNDER_WAY)
    return restore
  })
  const restore = yield* (yield* Transaction).run(begin)
  if (restore !== undefined) return restore
  const underWay = yield* findUnderWay
  return yield* new RestoreUnderWay({ restoredTo: underWay.restoredTo })
})

export const findUnderWay = Effect.gen(function* () {
  const latest = yield* (yield* RestoreRepository).latest
  return latest === undefined || latest.finishedAt !== null ? yield* new NoRestoreUnderWay() : latest
})

/**
 * Marks recipients as sent if a mail server accepted their message after the restore point, and publishes events. Returns the numbers of those marked, already sent to or
 * bounced, and missing because they were added after the restore point.
 */
export const markMailed = Effect.fn("Restores.markMailed")(function* (ids: ReadonlyArray<RecipientId>) {
  const restores = yield* RestoreRepository
  const transaction = yield* Transaction
  const publisher = yield* EventPublisher
  const found = yield* restores.findRecipients(ids)
  const campaigns = new Set<Recipient["campaignId"]>()
  let marked = 0
  for (const recipients of Object.values(Arr.groupBy(found, ({ organizationId }) => organizationId))) {
    const { organizationId } = recipients[0]
    const ids = recipients.map(({ id }) => id)
    const mark = Effect.gen(function* () {
      const unsent = new Set(yield* restores.lockUnsent(organizationId, ids))
      const mailed = recipients.filter(({ id }) => unsent.has(id))
      if (mailed.length === 0) return mailed
      const events = yield* Effect.forEach(mailed, (recipient) =>
        composeSent({ ...recipient, recipientId: recipient.id }),
      )
      const at = yield* transaction.commitTimestamp(organizationId)
      yield* restores.takeOutMailed(organizationId, [...unsent], at)
      yield* publisher.publish(events, at)
      return mailed
    })
    for (const { campaignId } of yield* transaction.run(mark)) {
      campaigns.add(campaignId)
      marked++
    }
  }
  return { marked, known: found.length - marked, missing: ids.length - found.length, campaigns: [...campaigns] }
})

/** Finishes a restore: the workers continue. Its paused campaigns are resumed only if a mail server's log was read. */
export const finishRestore = Effect.fn("Restores.finishRestore")(function* (
  campaigns: "resume campaigns" | "leave campaigns paused",
) {
  const restores = yield* RestoreRepository
  const { id, mailLogReadAt } = yield* findUnderWay
  if (campaigns === "resume campaigns" && mailLogReadAt === null) return yield* new MailLogNotRead()
  const finish = Effect.gen(function* () {
    if (campaigns === "resume campaigns") yield* restores.resumeCampaigns
    yield* acceptIdentity
    yield* restores.finish(id)
  })
  yield* (yield* Transaction).run(finish)
  return (yield* restores.latest)!
})

/** Lets the workers continue with a database that was promoted or moved without loss. */
export const acceptPromotion = Effect.fn("Restores.acceptPromotion")(function* () {
  const restores = yield* RestoreRepository
  const latest = yield* restores.latest
  if (latest?.finishedAt === null) return yield* new RestoreUnderWay({ restoredTo: latest.restoredTo })
  yield* acceptIdentity
  return yield* restores.databaseState
})

const acceptIdentity = Effect.gen(function* () {
  const restores = yield* RestoreRepository
  const { current } = yield* restores.databaseState
  if (current !== null) yield* restores.record(current)
})
