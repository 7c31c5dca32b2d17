import { createHmac, timingSafeEqual } from "node:crypto"

/** Reports whether the raw body of a request was signed with one of the secrets, within the last five minutes. */
export function verifySignature(
  header: string,
  rawBody: Uint8Array,
  secrets: string[],
  now = Date.now() / 1000,
): boolean {
  // 1. Take the header apart: one t, and one v1 or more.
  const items = header.split(",").map((item) => item.split("="))
  const t = items.find(([name]) => name === "t")?.[1] ?? ""
  const given = items.filter(([name]) => name === "v1").map(([, hex]) => Buffer.from(hex ?? "", "hex"))

  // 2. Refuse a request that is older, or newer, than five minutes.
  if (!/^\d+$/.test(t) || Math.abs(now - Number(t)) > 300) return false

  // 3. Sign the same bytes with each secret that you hold: the time, a dot, the raw body.
  const expected = secrets.map((secret) => createHmac("sha256", secret).update(`${t}.`).update(rawBody).digest())

  // 4. Compare in constant time; one match is enough.
  return given.some((one) => expected.some((other) => one.length === other.length && timingSafeEqual(one, other)))
}
