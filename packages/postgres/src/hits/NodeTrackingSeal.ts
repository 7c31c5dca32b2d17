import { createHmac, createSecretKey, hkdfSync, timingSafeEqual } from "node:crypto"
import { TrackingSeal } from "@outreach/domain/hits/TrackingLinks"
import type { KeyRing } from "@outreach/domain/KeyRing"
import { Layer, Redacted } from "effect"

/** Seals with HMAC-SHA256 truncated to 16 bytes. The keys are derived with HKDF from `SECRETS_KEY`, which every process has. */
export const NodeTrackingSeal = (secretsKeys: KeyRing) => {
  const [newest, ...older] = secretsKeys
  const prepare = ({ mark, key }: KeyRing[number]) => {
    const derived = hkdfSync("sha256", Redacted.value(key), new Uint8Array(), "outreach tracked links", 32)
    const secretKey = createSecretKey(Buffer.from(derived))
    const seal = (bytes: Uint8Array) => createHmac("sha256", secretKey).update(bytes).digest().subarray(0, 16)
    return { mark, seal }
  }
  const sealing = prepare(newest)
  const keys = [sealing, ...older.map(prepare)]
  return Layer.succeed(TrackingSeal, {
    ...sealing,
    isSealed: (bytes, seal, mark) =>
      keys.some((key) => key.mark === mark && timingSafeEqual(key.seal(bytes).subarray(0, seal.length), seal)),
  })
}
