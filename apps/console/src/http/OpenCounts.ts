import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { InboxReader } from "@outreach/backoffice/inbox/InboxReader"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { Cache, Context, Effect, Layer } from "effect"
import { formatCompact } from "../components/format.ts"
import type { Section } from "./paths.ts"

/** What stands beside the sections whose lists wait for somebody. */
export type OpenTexts = Partial<Readonly<Record<Section, string>>>

/** Counts what waits for somebody, once in ten seconds for all who look at the deployment or at one organization. */
export class OpenCounts extends Context.Service<OpenCounts>()("console/http/OpenCounts", {
  make: Effect.gen(function* () {
    const groups = yield* FailureGroupReader
    const inbox = yield* InboxReader
    const readings = yield* Cache.make({
      capacity: 1000,
      timeToLive: "10 seconds",
      lookup: Effect.fnUntraced(function* (organizationId: OrganizationId | undefined) {
        const { lasting } = yield* groups.totals(organizationId === undefined ? {} : { organizationId })
        const { quarantined } = yield* inbox.counts(organizationId)
        const open = { issues: lasting, inbox: quarantined }
        return Object.fromEntries(
          Object.entries(open).flatMap(([section, count]) => (count > 0 ? [[section, textOf(count)]] : [])),
        ) as OpenTexts
      }),
    })
    return {
      /** Returns the counts that are not 0, as texts; none while they cannot be read, because a page is whole without them. */
      of: (organizationId: OrganizationId | null): Effect.Effect<OpenTexts> =>
        Effect.catchCause(Cache.get(readings, organizationId ?? undefined), () => Effect.succeed({})),
    }
  }),
}) {
  static readonly layer = Layer.effect(OpenCounts, OpenCounts.make)
}

const textOf = (count: number): string => `${formatCompact(count)}${count >= COUNT_CAP ? "+" : ""}`
