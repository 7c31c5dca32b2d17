import { TrackingSeal } from "@outreach/domain/hits/TrackingLinks"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { Effect, Redacted } from "effect"
import { describe, expect, it } from "vitest"

const sealWith = (key: Uint8Array, text: string) =>
  Effect.runSync(TrackingSeal.pipe(Effect.provide(NodeTrackingSeal(Redacted.make(key))))).seal(Buffer.from(text))

describe("NodeTrackingSeal", () => {
  it("makes the seal that the links of sent messages carry", () => {
    // Computed with Python's hmac: HKDF-SHA256 of the key without salt, then HMAC-SHA256. Another seal would break every link ever sent.
    expect(Buffer.from(sealWith(Buffer.alloc(32, 7), "hello")).toString("hex")).toBe("05b43a7d9c8b68fe66182a9d51b8fea9")
  })

  it("makes another seal for other bytes, and with another key", () => {
    const key = Buffer.alloc(32, 7)
    expect(sealWith(key, "hello")).toHaveLength(16)
    expect(sealWith(key, "hullo")).not.toEqual(sealWith(key, "hello"))
    expect(sealWith(Buffer.alloc(32, 8), "hello")).not.toEqual(sealWith(key, "hello"))
  })
})
