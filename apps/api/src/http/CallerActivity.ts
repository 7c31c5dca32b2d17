import type { SecretVerification } from "@outreach/domain/deliveries/SigningSecretRepository"
import type { EndpointId, KeyId, OrganizationId } from "@outreach/domain/Identifier"
import { DatabaseMonitor } from "@outreach/postgres/DatabaseMonitor"
import {
  PartnerActivity,
  type PolledList,
  type ReadPosition,
  type RequestCount,
} from "@outreach/postgres/organizations/PartnerActivity"
import { describeCause } from "@outreach/process/describeCause"
import { Context, type Duration, Effect, Layer } from "effect"

/** How often what was counted is written; a process that dies loses as much. */
export const WriteInterval = Context.Reference<Duration.Input>("api/http/WriteInterval", {
  defaultValue: () => "5 seconds",
})

/** How long a process that stops may take for its last writing. */
const LAST_WRITE = "5 seconds"
/** How many counts, and positions, one statement writes. The others wait, and are still counted up. */
const WRITE_BATCH_SIZE = 1000
/** How many counts, and positions, are kept in memory at most; further ones are lost. */
const MAX_KEPT = 20_000
/** How often the same verification is written, and so how late it may be. */
const VERIFICATION_NOTED_EVERY_MS = 60_000

/** Who made a request: a key, or the sender of webhooks to an endpoint. */
export interface KnownCaller {
  readonly organizationId: OrganizationId
  readonly id: KeyId | EndpointId
  /** How many requests its rate window has counted, this one included. */
  readonly used: number
}

export interface PageEnd extends Pick<ReadPosition, "types" | "at" | "id" | "hasMore"> {
  readonly list: PolledList
}

type Verification = Omit<SecretVerification, "verifiedAt">

/** Counts in memory what partners ask for, and writes it every few seconds: no request waits for it. */
export class CallerActivity extends Context.Service<CallerActivity>()("api/http/CallerActivity", {
  make: Effect.gen(function* () {
    const activity = yield* PartnerActivity
    const monitor = yield* DatabaseMonitor
    const counts = new Map<string, RequestCount>()
    const positions = new Map<string, ReadPosition>()
    const verifications = new Map<string, Verification>()
    const notedAt = new Map<string, number>()

    const keep = <Value>(kept: Map<string, Value>, key: string, value: Value): void => {
      if (kept.size < MAX_KEPT || kept.has(key)) kept.set(key, value)
    }
    const add = (count: RequestCount): void => {
      const key = `${count.callerId} ${count.code}`
      const earlier = counts.get(key)
      const requests = count.requests + (earlier?.requests ?? 0)
      keep(counts, key, { ...count, requests, peak: Math.max(count.peak, earlier?.peak ?? 0) })
    }

    /** Writes what is in memory. Counts that could not be written are given back, unless newer ones came while the statement ran. */
    const write = <Value>(
      kept: Map<string, Value>,
      store: (values: ReadonlyArray<Value>) => Effect.Effect<void>,
      giveBack: (key: string, value: Value) => void,
    ) =>
      Effect.suspend(() => {
        if (kept.size === 0) return Effect.void
        const taken = [...kept].slice(0, WRITE_BATCH_SIZE)
        for (const [key] of taken) kept.delete(key)
        return Effect.catchCause(
          Effect.suspend(() => store(taken.map(([, value]) => value))),
          Effect.fnUntraced(function* (cause) {
            for (const [key, value] of taken) giveBack(key, value)
            if (yield* monitor.covers(cause)) return
            yield* Effect.logError("use of the API could not be counted").pipe(
              Effect.annotateLogs({ errors: describeCause(cause) }),
            )
          }),
        )
      })
    const writeAll = Effect.all(
      [
        write(counts, activity.countRequests, (_, count) => add(count)),
        write(positions, activity.notePositions, (key, position) => {
          if (!positions.has(key)) keep(positions, key, position)
        }),
        write(verifications, activity.noteVerifications, (key, verification) => keep(verifications, key, verification)),
      ],
      { discard: true },
    )
    yield* Effect.addFinalizer(() => Effect.timeoutOption(writeAll, LAST_WRITE))
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(yield* WriteInterval), writeAll)))

    return {
      /** Counts a response by the code of its error, empty without one. */
      count: ({ organizationId, id, used }: KnownCaller, code: string): void =>
        add({ organizationId, callerId: id, code, requests: 1, peak: used }),
      noteRead: ({ organizationId, keyId }: Pick<ReadPosition, "organizationId" | "keyId">, end: PageEnd): void =>
        keep(positions, `${keyId} ${end.list}`, { organizationId, keyId, ...end }),
      /** Notes that a webhook was verified with a secret, at a time in Unix milliseconds. */
      noteVerification: ({ organizationId, secretId, endpointId }: Verification, now: number): void => {
        const key = `${secretId} ${endpointId}`
        if (now - (notedAt.get(key) ?? Number.NEGATIVE_INFINITY) < VERIFICATION_NOTED_EVERY_MS) return
        if (notedAt.size >= MAX_KEPT) notedAt.clear()
        notedAt.set(key, now)
        keep(verifications, key, { organizationId, secretId, endpointId })
      },
    }
  }),
}) {
  static readonly layer = Layer.effect(CallerActivity, CallerActivity.make)
}
