import { randomBytes } from "node:crypto"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { singleKey } from "@outreach/process/keyRing"
import { Layer, Redacted } from "effect"

/** Seals with a key that nobody keeps, so that following the links of a preview or a test records nothing. */
export const throwawaySeal = Layer.suspend(() => NodeTrackingSeal(singleKey(Redacted.make(randomBytes(32)))))
