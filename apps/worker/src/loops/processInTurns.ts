import type { OrganizationId } from "@outreach/domain/Identifier"
import { DatabaseMonitor } from "@outreach/postgres/DatabaseMonitor"
import { Clock, Effect, Exit } from "effect"
import { logFailure, nextWait } from "./retryForever.ts"

/**
 * Creates a step that does some work for each organization in turn, and returns the amount done.
 *
 * A failure is logged with its organization, which is then skipped for a growing wait; the others continue.
 * When the database recovers, waits end.
 */
export const processInTurns = <E1, R1, E2, R2>(
  name: string,
  organizations: Effect.Effect<ReadonlyArray<OrganizationId>, E1, R1>,
  work: (organizationId: OrganizationId) => Effect.Effect<number, E2, R2>,
): Effect.Effect<number, E1, R1 | R2> => {
  const failures = new Map<OrganizationId, { readonly waitMs: number; readonly until: number }>()
  let seen: number | undefined
  return Effect.gen(function* () {
    const { recoveries } = yield* DatabaseMonitor
    if (recoveries.count !== seen) failures.clear()
    seen = recoveries.count
    const listed = yield* organizations
    for (const id of failures.keys()) if (!listed.includes(id)) failures.delete(id)
    let done = 0
    for (const organizationId of listed) {
      const failure = failures.get(organizationId)
      if (failure !== undefined && failure.until > (yield* Clock.currentTimeMillis)) continue
      const exit = yield* Effect.exit(work(organizationId))
      if (Exit.isSuccess(exit)) {
        failures.delete(organizationId)
        done += exit.value
      } else {
        yield* Effect.annotateLogs(logFailure(`${name} failed`, exit.cause), { organizationId })
        const waitMs = nextWait(failure?.waitMs ?? 0)
        failures.set(organizationId, { waitMs, until: (yield* Clock.currentTimeMillis) + waitMs })
      }
    }
    return done
  })
}
