import { Effect } from "effect"
import { Deployment } from "../Deployment.ts"
import type { OrganizationId } from "../Identifier.ts"
import { InboxApplier } from "./InboxApplier.ts"
import { parseInboundEvent } from "./parseInboundEvent.ts"

/** The most events of an organization that share a transaction. */
const MAX_BATCH_SIZE = 200
/** The most recipients that a program's end withdraws in a transaction. */
const MAX_WITHDRAWN = 1000

/** Applies a batch of an organization's events; returns how much is done now, so that more may follow. */
export const applyBatch = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const applier = yield* InboxApplier
  const { livemode } = yield* Deployment
  const application = yield* applier.applyNext(organizationId, MAX_BATCH_SIZE, parseInboundEvent(livemode))
  if (application === undefined) return 0
  const { applied, quarantined, unattributed, reached } = application
  for (const { eventId, reason } of quarantined) {
    yield* Effect.logWarning("inbound event quarantined").pipe(Effect.annotateLogs({ organizationId, eventId, reason }))
  }
  for (const eventId of unattributed) {
    yield* Effect.logWarning("inbound event names an unknown token, applied without a recipient").pipe(
      Effect.annotateLogs({ organizationId, eventId }),
    )
  }
  for (const programId of reached) {
    yield* Effect.logInfo("program reached its completer quota, withdrawing the remaining recipients").pipe(
      Effect.annotateLogs({ organizationId, programId }),
    )
  }
  const withdrawn = yield* applier.withdrawReached(organizationId, MAX_WITHDRAWN)
  if (withdrawn > 0) {
    yield* Effect.logInfo("withdrew recipients of programs that reached their quota").pipe(
      Effect.annotateLogs({ organizationId, withdrawn }),
    )
  }
  return applied + quarantined.length + withdrawn
})
