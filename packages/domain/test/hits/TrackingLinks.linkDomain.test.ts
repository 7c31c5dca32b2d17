import { Effect } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  isLinkDomainChallenge,
  isLinkDomainProof,
  proveLinkDomain,
  TRACKING_PATHS,
  type TrackingKind,
  TrackingSeal,
} from "../../src/hits/TrackingLinks.ts"
import { testLinks } from "../mail/testLinks.ts"
import { testSeal } from "./testSeal.ts"

const sealOf = (key: string) => Effect.runSync(Effect.provide(TrackingSeal, testSeal({ key })))
const seal = sealOf("key")
const domain = "click.acme.test"
const challenges = fc.stringMatching(/^[\w-]{22,64}$/)

describe("the proof of a link domain", () => {
  it("is only valid for its domain and its challenge", () => {
    fc.assert(
      fc.property(challenges, challenges, (challenge, other) => {
        const proof = proveLinkDomain(seal, domain, challenge)
        const isProof = (of: { domain: string; challenge: string }, by = seal) => isLinkDomainProof(by, proof, of)
        expect(isLinkDomainChallenge(challenge)).toBe(true)
        expect(isProof({ domain, challenge })).toBe(true)
        expect(isProof({ domain: "click.other.test", challenge })).toBe(false)
        expect(isProof({ domain, challenge: other })).toBe(challenge === other)
        expect(isProof({ domain, challenge }, sealOf("another key"))).toBe(false)
      }),
    )
  })

  it("is not any other text, and no link", () => {
    const proof = proveLinkDomain(seal, domain, "c".repeat(32))
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.constant(`${proof}AA`)), (text) => {
        expect(isLinkDomainProof(seal, text, { domain, challenge: "c".repeat(32) })).toBe(text === proof)
      }),
    )
    for (const kind of Object.keys(TRACKING_PATHS)) {
      expect(testLinks().read(kind as TrackingKind, proof)).toBeUndefined()
    }
  })
})
