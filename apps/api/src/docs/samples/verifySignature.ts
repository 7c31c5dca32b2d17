import { createHmac, timingSafeEqual } from "node:crypto"

/** Returns whether the raw body was signed with one of the secrets within the last five minutes. */
export function verifySignature(
  header: string,
  rawBody: Uint8Array,
  secrets: string[],
  now = Date.now() / 1000,
): boolean {
  // 1. Parse the header: one t, and at least one v1. Ignore other names.
  const items = header.split(/, */)
  if (header.length > 4096 || items.length > 32) return false
  if (!items.every((item) => /^[^= ]+=[^ ]*$/.test(item))) return false
  const times = items.filter((item) => item.startsWith("t=")).map((item) => item.slice(2))
  const signatures = items.filter((item) => item.startsWith("v1=")).map((item) => item.slice(3))
  const [time = ""] = times
  if (times.length !== 1 || !/^(0|[1-9][0-9]{0,14})$/.test(time)) return false
  if (!signatures.every((signature) => /^[0-9a-f]{64}$/.test(signature))) return false

  // 2. Reject timestamps more than five minutes in the past or future.
  if (Math.abs(now - Number(time)) > 300) return false

  // 3. Sign the same bytes with each of your secrets: time, dot, raw body.
  const expected = secrets
    .filter((secret) => secret !== "")
    .map((secret) => createHmac("sha256", secret).update(`${time}.`).update(rawBody).digest("hex"))

  // 4. Compare in constant time. One match is sufficient.
  return signatures.some((one) => expected.some((other) => timingSafeEqual(Buffer.from(one), Buffer.from(other))))
}
