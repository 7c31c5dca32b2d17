import type { Services } from "@outreach/testing/runOnDatabase"
import { publishTogether, seedCampaign } from "@outreach/testing/seedCampaign"
import { type Effect, Redacted } from "effect"
import type { Route } from "./audit.ts"
import { type Kind, startPartner } from "./startPartner.ts"

interface Role {
  readonly kind: Kind
  /** Whether a failing partner recovers, or never does. */
  readonly fate?: "mended" | "hopeless"
  /** Relative number of events. Default 1. */
  readonly weight?: number
}

const PARTNERS: ReadonlyArray<Role> = [
  ...Array<Role>(7).fill({ kind: "fast" }),
  // Sixteen concurrent calls, each a third of the timeout, and fewer while calls of dead workers count.
  ...Array<Role>(2).fill({ kind: "slow", weight: 0.2 }),
  // After each failure it is only probed, for longer than it stays up.
  ...Array<Role>(2).fill({ kind: "flapping", weight: 0.2 }),
  { kind: "rejecting" },
  ...(["failing", "dead", "hanging", "breaking off"] as const).flatMap((kind): Role[] => [
    { kind, fate: "mended" },
    { kind, fate: "hopeless", weight: 0 },
  ]),
]
const WEIGHTS = PARTNERS.reduce((sum, { weight = 1 }) => sum + weight, 0)

/** Events published per transaction. */
const TOGETHER = 100

/** Starts the partners, each with its own organization and endpoint. */
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
        /** Publishes further events, and one additional event when its share is published. Failed publications are replaced by new events. */
        publish: async () => {
          const count = Math.max(1, Math.min(TOGETHER, share - published.length))
          published.push(...(await run(publishTogether(campaign, count))))
        },
      } satisfies Route & Record<string, unknown>
    }),
  )
}
