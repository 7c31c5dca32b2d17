import type { ApiKey } from "@outreach/domain/organizations/ApiKey"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeys"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Clock } from "effect"
import { organizationId } from "../operations/Field.ts"
import { badge, inOps, list, text, time } from "./List.ts"

const stateOf = ({ revokedAt, expiresAt }: ApiKey, now: number) => {
  if (revokedAt !== null) return "revoked"
  return expiresAt !== null && toUnixMillis(expiresAt) <= now ? "expired" : "valid"
}

export const keys = list("keys list", {
  about: "List an organization's API keys, valid ones first, without their text",
  filters: { organizationId },
  *read({ organizationId }) {
    const now = yield* Clock.currentTimeMillis
    const keys = yield* (yield* ApiKeyRepository).list(organizationId)
    const rows = keys.map((key) => ({ ...key, state: stateOf(key, now) }))
    return [...rows.filter(({ state }) => state === "valid"), ...rows.filter(({ state }) => state !== "valid")]
  },
  columns: {
    id: inOps,
    name: { ...text("Key"), note: ({ prefix, lastFour }) => `${prefix}…${lastFour}` },
    prefix: inOps,
    lastFour: inOps,
    state: badge("State", { valid: "good" }),
    scopes: text("Scopes"),
    createdAt: inOps,
    lastUsedAt: time("Last used", "never"),
    expiresAt: time("Expires", "never"),
    revokedAt: inOps,
  },
  empty: "No keys, so the partner can't use the API. Issue one.",
})
