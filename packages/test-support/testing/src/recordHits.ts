import { type Hit, HitRepository } from "@outreach/domain/hits/Hits"
import { createIdentifier } from "@outreach/domain/Identifier"
import { Clock, Effect } from "effect"

type Received = Hit & { readonly cameAt: number }

/** Stores hits as the API does. Default: openings that came now, without headers. */
export const recordHits = Effect.fnUntraced(function* (
  ...hits: ReadonlyArray<Pick<Hit, "organizationId" | "recipientId"> & Partial<Received>>
) {
  const request = { link: null, method: "GET", address: "198.51.100.7", headers: {} }
  const cameAt = yield* Clock.currentTimeMillis
  const received = yield* Effect.forEach(hits, (hit) =>
    Effect.map(createIdentifier("hit"), (id): Received => ({ id, cameAt, ...request, ...hit })),
  )
  yield* HitRepository.use(({ record }) => record(received))
})
