import { createHmac, createSecretKey, hkdfSync } from "node:crypto"
import { TrackingSeal } from "@outreach/domain/hits/TrackingLinks"
import { Layer, Redacted } from "effect"

/** Seals with HMAC-SHA256, cut to its first 16 bytes, under a key that HKDF derives from `SECRETS_KEY`, which every process has. */
export const NodeTrackingSeal = (secretsKey: Redacted.Redacted<Uint8Array>) => {
  const key = createSecretKey(
    Buffer.from(hkdfSync("sha256", Redacted.value(secretsKey), new Uint8Array(), "outreach tracked links", 32)),
  )
  return Layer.succeed(TrackingSeal, {
    seal: (bytes) => createHmac("sha256", key).update(bytes).digest().subarray(0, 16),
  })
}
