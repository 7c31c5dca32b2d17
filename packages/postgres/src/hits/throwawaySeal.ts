import { randomBytes } from "node:crypto"
import { singleKey } from "@outreach/domain/KeyRing"
import { Layer, Redacted } from "effect"
import { NodeTrackingSeal } from "./NodeTrackingSeal.ts"

/** Seals with a key that nobody keeps, so that following the links of a preview or a test records nothing. */
export const throwawaySeal = Layer.suspend(() => NodeTrackingSeal(singleKey(Redacted.make(randomBytes(32)))))
