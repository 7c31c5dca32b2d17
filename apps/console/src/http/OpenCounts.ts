import { formatCompact } from "@outreach/backoffice/format"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { readFacts } from "@outreach/postgres/operators/FactReader"
import { Cache, Context, Effect, Layer } from "effect"
import type { OpenTexts } from "../view/View.ts"

/** Counts open items, once in ten seconds for all viewers of the deployment or of one organization. */
export class OpenCounts extends Context.Service<OpenCounts>()("console/http/OpenCounts", {
  make: Effect.gen(function* () {
    const readings = yield* Cache.make({
      capacity: 1000,
      timeToLive: "10 seconds",
      lookup: (organizationId: OrganizationId | null) =>
        Effect.map(
          readFacts(["failuresLasting", "inboxQuarantined"], organizationId),
          ({ failuresLasting: lasting, inboxQuarantined: quarantined }): OpenTexts => ({
            ...(lasting > 0 && { issues: textOf(lasting) }),
            ...(quarantined > 0 && { inbox: textOf(quarantined) }),
          }),
        ),
    })
    return {
      /** Returns the counts above 0 as texts. Returns none if they can't be read, because pages work without them. */
      of: (organizationId: OrganizationId | null): Effect.Effect<OpenTexts> =>
        Effect.catchCause(Cache.get(readings, organizationId), () => Effect.succeed({})),
    }
  }),
}) {
  static readonly layer = Layer.effect(OpenCounts, OpenCounts.make)
}

const textOf = (count: number): string => `${formatCompact(count)}${count >= COUNT_CAP ? "+" : ""}`
