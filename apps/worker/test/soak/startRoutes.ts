import { publishTogether } from "@outreach/testing/publishTogether"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { type Effect, Redacted } from "effect"
import type { Services } from "../journey.ts"
import type { Route } from "./audit.ts"
import { type Kind, startPartner } from "./startPartner.ts"

interface Role {
  readonly kind: Kind
  /** Some that fail are mended after a while, and some never are. */
  readonly fate?: "mended" | "hopeless"
  /** How many events, beside others. Default 1. */
  readonly weight?: number
}

const PARTNERS: ReadonlyArray<Role> = [
  ...Array<Role>(7).fill({ kind: "fast" }),
  // Sixteen calls of a third of the time at once, and fewer while dead workers hold some.
  ...Array<Role>(2).fill({ kind: "slow", weight: 0.2 }),
  // After each fall it is only probed, for longer than it stays up.
  ...Array<Role>(2).fill({ kind: "flapping", weight: 0.2 }),
  { kind: "rejecting" },
  ...(["failing", "dead", "hanging", "breaking off"] as const).flatMap((kind): Role[] => [
    { kind, fate: "mended" },
    { kind, fate: "hopeless", weight: 0 },
  ]),
]
const WEIGHTS = PARTNERS.reduce((sum, { weight = 1 }) => sum + weight, 0)

/** How many events one transaction publishes. */
const TOGETHER = 100

/** Starts the partners, each with an organization and an endpoint of its own. */
export const startRoutes = async (
  run: <A, E>(effect: Effect.Effect<A, E, Services>) => Promise<A>,
  options: { readonly events: number; readonly hopeless: number; readonly callSeconds: number },
) => {
  const { events, hopeless, callSeconds } = options
  return await Promise.all(
    PARTNERS.map(async ({ kind, fate, weight = 1 }) => {
      const partner = await startPartner(kind, { callMs: callSeconds * 1000 })
      const { campaign, organization, endpoint, secret } = await run(
        seedCampaign({ recipients: 0, endpointUrl: partner.url }),
      )
      partner.trust(Redacted.value(secret))
      const share = fate === "hopeless" ? hopeless : Math.ceil((events * weight) / WEIGHTS)
      const published: string[] = []
      return {
        partner,
        fate,
        organizationId: organization.id,
        endpointId: endpoint.id,
        published: published as ReadonlyArray<string>,
        isPublished: () => published.length >= share,
        /** Publishes some more, and one more event than its share when that is published; what fails is published again by the next call, as other events. */
        publish: async () => {
          const count = Math.max(1, Math.min(TOGETHER, share - published.length))
          published.push(...(await run(publishTogether(campaign, count))))
        },
      } satisfies Route & Record<string, unknown>
    }),
  )
}
