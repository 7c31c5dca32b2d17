import { TrackingLinks, TrackingSeal } from "@outreach/domain/hits/TrackingLinks"
import { OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import type { KeyRing } from "@outreach/domain/KeyRing"
import { ReturnPaths } from "@outreach/domain/mail/returned/ReturnPaths"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { singleKey } from "@outreach/process/keyRing"
import { Effect, Layer, Redacted } from "effect"
import { describe, expect, it } from "vitest"

const keyOf = (byte: number) => Redacted.make(Buffer.alloc(32, byte))
const sealOf = (ring: KeyRing) => Effect.runSync(TrackingSeal.pipe(Effect.provide(NodeTrackingSeal(ring))))
const k1 = singleKey(keyOf(7))
const k2 = { id: "k2", mark: 2, key: keyOf(8) }

const to = {
  organizationId: OrganizationId.make(`org_${"1".repeat(32)}`),
  recipientId: RecipientId.make(`rcp_${"2".repeat(32)}`),
}

/** The key id of 32 bytes with value 7. */
const MARK = 117

const hello = Buffer.from("hello")
const hullo = Buffer.from("hullo")

describe("NodeTrackingSeal", () => {
  it("creates the seal that the links of sent messages contain", () => {
    // Computed with Python's hmac: HKDF-SHA256 of the key without salt, then HMAC-SHA256. A different seal would break all sent links.
    expect(Buffer.from(sealOf(k1).seal(hello)).toString("hex")).toBe("05b43a7d9c8b68fe66182a9d51b8fea9")
    expect(sealOf(k1).mark).toBe(MARK)
  })

  it("creates and reads a link and a return path, with a single key or a ring", () => {
    // Computed with Python's hmac.
    const link =
      "https://api.acme.test/l/AXURERERERERERERERERERERIiIiIiIiIiIiIiIiIiIiImh0dHBzOi8vY2xpbmljLnRlc3QvYbdIVuPcyYSMDoUkf5JqF7M"
    const returnPath = "bounce-22222222222222222222222222222222-75716c66678abf1cf7@bounces.acme.test"
    const destination = "https://clinic.test/a"
    const made = (ring: KeyRing) =>
      Effect.runSync(
        Effect.all({ links: TrackingLinks, returnPaths: ReturnPaths }).pipe(
          Effect.provide(
            Layer.merge(TrackingLinks.below("https://api.acme.test"), ReturnPaths.at("bounces.acme.test")).pipe(
              Layer.provide(NodeTrackingSeal(ring)),
            ),
          ),
        ),
      )
    const alone = made(k1)
    expect(alone.links.click(to, destination)).toBe(link)
    expect(alone.returnPaths.of(to.recipientId)).toBe(returnPath)
    for (const { links, returnPaths } of [alone, made([k2, ...k1]), made([{ ...k1[0], id: "old" }])]) {
      expect(links.read("click", link.split("/l/")[1]!)).toEqual({ ...to, destination })
      expect(returnPaths.read(returnPath)).toBe(to.recipientId)
    }
    const without = made([k2])
    expect(without.links.read("click", link.split("/l/")[1]!)).toBeUndefined()
    expect(without.returnPaths.read(returnPath)).toBeUndefined()
  })

  it("seals with the newest key of a ring, and verifies the seals of all", () => {
    const ring = sealOf([k2, ...k1])
    expect(ring.mark).toBe(2)
    expect(ring.seal(hello)).toEqual(sealOf([k2]).seal(hello))
    expect(ring.isSealed(hello, ring.seal(hello), 2)).toBe(true)
    expect(ring.isSealed(hello, sealOf(k1).seal(hello), MARK)).toBe(true)
    expect(ring.isSealed(hello, sealOf(k1).seal(hello).subarray(0, 8), MARK)).toBe(true)
    expect(ring.isSealed(hullo, ring.seal(hello), 2)).toBe(false)
    expect(sealOf([k2]).isSealed(hello, sealOf(k1).seal(hello), MARK)).toBe(false)
  })

  it("doesn't try keys with a different id", () => {
    expect(sealOf([k2]).isSealed(hello, sealOf([k2]).seal(hello), 3)).toBe(false)
  })
})
