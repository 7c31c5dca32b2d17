import { Effect, Layer } from "effect"
import { TrackingLinks } from "../../src/hits/TrackingLinks.ts"
import { OrganizationId, RecipientId } from "../../src/Identifier.ts"
import { type TestKey, testSeal } from "../hits/testSeal.ts"

export const BASE = "https://api.outreach.test"

/** The recipient of links. */
export const to = {
  organizationId: OrganizationId.make(`org_${"1".repeat(32)}`),
  recipientId: RecipientId.make(`rcp_${"2".repeat(32)}`),
}

/** Creates links sealed with separate keys. */
export const testLinks = (...keys: ReadonlyArray<TestKey>): TrackingLinks["Service"] =>
  Effect.runSync(TrackingLinks.pipe(Effect.provide(Layer.provide(TrackingLinks.below(BASE), testSeal(...keys)))))
