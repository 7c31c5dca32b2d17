import { Effect, Result, Tracer } from "effect"
import { Deployment } from "../Deployment.ts"
import { DigestRepository } from "../digest/Digest.ts"
import type { OrganizationId, ProgramId } from "../Identifier.ts"
import { ProgramRepository } from "../programs/Programs.ts"
import type { Npi } from "../recipients/Clinician.ts"
import { RecipientRepository } from "../recipients/Recipient.ts"
import { ErasedClinicianRepository, isErased, withoutErased } from "../suppressions/ErasedClinicians.ts"
import { assertNoNewMatches, SuppressionRepository, withdrawReached } from "../suppressions/Withdrawals.ts"
import { parseTraceparent } from "../TraceContext.ts"
import { Transaction } from "../Transaction.ts"
import { deferBlockedClinicians, parseInboundEvent, reachedNow, toSteps, toWithdrawals } from "./InboundStep.ts"
import { eraseInboundBody, InboxRepository, type QuarantinedEvent, type WaitingEvent } from "./InboxRepository.ts"

/** Maximum events of an organization per transaction. */
const MAX_BATCH_SIZE = 200
/** Number of retries of a batch because a recipient was imported during it. */
const MAX_RETRIES = 10

export interface ApplyResult {
  /** Finished events, including those without effect. */
  readonly applied: number
  readonly quarantined: ReadonlyArray<QuarantinedEvent>
  /** Events waiting for a message in flight to a recipient that they withdraw. */
  readonly waiting: number
  /** Events with an unknown token. */
  readonly unattributed: ReadonlyArray<string>
  readonly reached: ReadonlyArray<ProgramId>
}

const NOTHING: ApplyResult = { applied: 0, quarantined: [], waiting: 0, unattributed: [], reached: [] }

/**
 * Applies an organization's next events, and withdraws recipients of programs that reached their quota.
 *
 * Returns the number of finished events, so that the caller continues.
 */
export const applyBatch = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const result = yield* applyNext(organizationId, MAX_BATCH_SIZE)
  if (result === undefined) return 0
  const { applied, quarantined, unattributed, reached } = result
  const log = (message: Effect.Effect<void>, details: object) =>
    Effect.annotateLogs(message, { organizationId, ...details })
  for (const event of quarantined) yield* log(Effect.logWarning("inbound event quarantined"), event)
  const unknownToken = Effect.logWarning("inbound event with an unknown token, applied without a recipient")
  for (const eventId of unattributed) yield* log(unknownToken, { eventId })
  const quotaReached = Effect.logInfo("program quota reached, withdrawing remaining recipients")
  for (const programId of reached) yield* log(quotaReached, { programId })
  const withdrawn = yield* withdrawReached(organizationId)
  if (withdrawn > 0) yield* log(Effect.logInfo("recipients withdrawn, program quota reached"), { withdrawn })
  return applied + quarantined.length + withdrawn
})

/**
 * Applies an organization's next events in one transaction, including their marks as applied.
 *
 * An event that the database rejects is found by bisection and quarantined. Returns undefined while another worker applies events.
 */
export const applyNext = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  limit: number,
): Effect.fn.Return<ApplyResult | undefined, never, Effect.Services<ReturnType<typeof applyEvents>>> {
  const { attempt } = yield* Transaction
  const inbox = yield* InboxRepository
  const suppressions = yield* SuppressionRepository
  // Kept outside of the transaction, in case it is rejected.
  let events: ReadonlyArray<WaitingEvent> = []
  const apply = Effect.gen(function* () {
    if (!(yield* suppressions.takeTurn(organizationId))) return undefined
    events = yield* inbox.readWaiting(organizationId, limit)
    return yield* withinTraces(organizationId, events, applyEvents(organizationId, events))
  })
  return yield* attempt(apply).pipe(
    Effect.retry({ times: MAX_RETRIES, while: ({ _tag }) => _tag === "WithdrawalConflict" }),
    Effect.catchTags({
      WithdrawalConflict: () => Effect.succeed({ ...NOTHING, waiting: events.length }),
      TransactionRejected: (rejection) => {
        if (events.length === 0) return Effect.die(rejection)
        if (events.length > 1) return applyNext(organizationId, Math.floor(events.length / 2))
        const reason = `it could not be applied: ${rejection.reason}`
        const quarantined = events.map(({ eventId }) => ({ eventId, reason }))
        return Effect.as(inbox.quarantine(organizationId, quarantined), { ...NOTHING, quarantined })
      },
    }),
  )
})

/** Applies events in a span of each trace of their receipt. Statements belong to the first, and the others link to it. */
const withinTraces = <A, E, R>(
  organizationId: OrganizationId,
  events: ReadonlyArray<WaitingEvent>,
  work: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, Exclude<R, Tracer.ParentSpan>> => {
  const [first, ...others] = events.flatMap(({ eventId, traceparent }) => {
    const parent = parseTraceparent(traceparent)
    return parent === undefined ? [] : { parent, attributes: { "outreach.event.id": eventId } }
  })
  const about = { "outreach.organization.id": organizationId, "outreach.events": events.length }
  const options = { ...first, attributes: { ...about, ...first?.attributes }, ...(!first && { sampled: false }) }
  return Effect.useSpan("apply inbox", { kind: "consumer", ...options }, (span) =>
    others.reduce(
      (within, other) =>
        Effect.useSpan("apply inbox", { kind: "consumer", ...other, links: [{ span, attributes: {} }] }, () => within),
      Effect.provideService(work, Tracer.ParentSpan, span),
    ),
  )
}

const applyEvents = Effect.fnUntraced(function* (organizationId: OrganizationId, events: ReadonlyArray<WaitingEvent>) {
  const inbox = yield* InboxRepository
  const recipients = yield* RecipientRepository
  const suppressions = yield* SuppressionRepository

  const parse = parseInboundEvent((yield* Deployment).livemode)
  const parsed = events.map((event) => ({ eventId: event.eventId, result: parse(event) }))
  const slugs = parsed.flatMap(({ result }) => Result.getOrUndefined(result)?.programSlug ?? [])
  const programs = yield* (yield* ProgramRepository).findIds(organizationId, slugs)
  const { steps, ignored, quarantined } = toSteps(parsed, programs)
  const erasures = yield* ErasedClinicianRepository
  const erased = yield* erasures.find(organizationId, [
    ...steps,
    ...events.map(({ npi }) => ({ npi: npi as Npi | null, email: null })),
  ])

  const matches = yield* suppressions.findMatches(organizationId, steps)
  const tokens = steps.flatMap(({ token }) => token ?? [])
  const attributed = yield* recipients.findIds(organizationId, tokens)
  const locked = new Set([...matches.map(({ id }) => id), ...attributed.values()])
  const ready = deferBlockedClinicians(steps, matches, yield* suppressions.lockRecipients(organizationId, locked))

  let reached: ReadonlyArray<ProgramId> = []
  if (ready.length > 0) {
    const accounts = ready.filter(({ stage }) => stage === "account_created")
    yield* suppressions.add(organizationId, withoutErased(erased, accounts), "account_created")
    // Another address of an erased NPI is known only by its hash.
    const others = accounts.filter(({ npi, email }) => email !== null && erased.npis.has(npi))
    if (others.length > 0) yield* erasures.add(organizationId, others)
    const at = yield* (yield* Transaction).commitTimestamp(organizationId)
    yield* assertNoNewMatches(organizationId, ready, locked)
    const quotas = yield* (yield* DigestRepository).countQualifications(
      organizationId,
      ready.map((step) => ({ ...step, npi: (erased.npis.get(step.npi) ?? step.npi) as Npi })),
      at,
    )
    yield* suppressions.withdraw(organizationId, toWithdrawals(ready, matches), at)
    const created = ready.flatMap(({ token }) => (token === null ? [] : (attributed.get(token) ?? [])))
    yield* recipients.markAccountCreated(organizationId, created, at)
    reached = reachedNow(quotas, at)
  }
  if (quarantined.length > 0) yield* inbox.quarantine(organizationId, quarantined)
  const applied = [...ignored, ...ready.map(({ eventId }) => eventId)]
  yield* inbox.markApplied(organizationId, applied)
  const done = new Set([...applied, ...quarantined.map(({ eventId }) => eventId)])
  const aboutErased = new Set(steps.filter((step) => isErased(erased, step)).map(({ eventId }) => eventId))
  const toErase = events.filter(
    ({ eventId, npi }) => done.has(eventId) && (aboutErased.has(eventId) || (npi !== null && erased.npis.has(npi))),
  )
  if (toErase.length > 0) {
    const bodies = toErase.map(({ eventId, body }) => ({ eventId, body: eraseInboundBody(body) }))
    yield* inbox.erase(organizationId, bodies)
  }
  return {
    applied: applied.length,
    quarantined,
    waiting: steps.length - ready.length,
    unattributed: ready.filter(({ token }) => token !== null && !attributed.has(token)).map(({ eventId }) => eventId),
    reached,
  } satisfies ApplyResult
})
