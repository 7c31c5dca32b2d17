import { createHmac } from "node:crypto"
import { Effect, Layer } from "effect"
import { TrackingLinks, TrackingSeal } from "../../src/hits/TrackingLinks.ts"
import { OrganizationId, RecipientId } from "../../src/Identifier.ts"

export const BASE = "https://api.outreach.test"

/** Whom links are for. */
export const to = {
  organizationId: OrganizationId.make(`org_${"1".repeat(32)}`),
  recipientId: RecipientId.make(`rcp_${"2".repeat(32)}`),
}

/** Creates links with a seal under a key of its own. */
export const testLinks = (key = "key"): TrackingLinks["Service"] =>
  Effect.runSync(
    TrackingLinks.pipe(
      Effect.provide(TrackingLinks.below(BASE)),
      Effect.provide(
        Layer.succeed(TrackingSeal, {
          seal: (bytes) => createHmac("sha256", key).update(bytes).digest().subarray(0, 16),
        }),
      ),
    ),
  )
