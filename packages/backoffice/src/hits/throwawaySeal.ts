import { randomBytes } from "node:crypto"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { singleKey } from "@outreach/process/keyRing"
import { Layer, Redacted } from "effect"

/** Seals with a discarded key, so that links of a preview or a test record no hits. */
export const throwawaySeal = Layer.suspend(() => NodeTrackingSeal(singleKey(Redacted.make(randomBytes(32)))))
