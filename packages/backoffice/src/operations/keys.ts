import { SCOPES } from "@outreach/contract/names"
import { KeyId } from "@outreach/domain/Identifier"
import type { ApiKey } from "@outreach/domain/organizations/ApiKey"
import * as ApiKeys from "@outreach/domain/organizations/ApiKeys"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeys"
import { Instant, toUnixMillis } from "@outreach/domain/Timestamp"
import { DisplayName, Seconds } from "@outreach/domain/textSchema"
import { Clock, Effect, Redacted } from "effect"
import { formatDuration } from "../format.ts"
import { OrganizationReader } from "../organizations/OrganizationReader.ts"
import { checkBoxes, field, organizationId, required, withDefault } from "./Field.ts"
import { badge, inOps, list, text, time } from "./List.ts"
import { operation } from "./Operation.ts"

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
    ...inOps("id"),
    name: { ...text("Key"), note: ({ prefix, lastFour }) => `${prefix}…${lastFour}` },
    ...inOps("prefix", "lastFour"),
    state: badge("State", { valid: "good" }),
    scopes: text("Scopes"),
    ...inOps("createdAt"),
    lastUsedAt: time("Last used", "never"),
    expiresAt: time("Expires", "never"),
    ...inOps("revokedAt"),
  },
  empty: "No keys, so no requests can use the API.",
  filledBy: "keys create",
})

const withText = ({ key, text }: ApiKeys.IssuedKey) => ({ ...key, apiKey: Redacted.value(text) })

const ofPartner = { role: "admin", forPartners: true } as const

export const createKey = operation("keys create", {
  ...ofPartner,
  about: "Create an API key and show it once: a live key if DEPLOYMENT=production, otherwise a test key",
  label: "Issue a key",
  input: {
    organizationId,
    name: required(field(DisplayName, "Key name", { example: "Nightly sync" })),
    scopes: required(checkBoxes("Scopes", SCOPES, { example: "events:read,digest:read" })),
    expires: field(Instant, "Expires", { kind: "instant", hint: "Default never" }),
  },
  run: ({ expires: expiresAt = null, ...key }) => Effect.map(ApiKeys.issueKey({ ...key, expiresAt }), withText),
  shownOnce: ({ apiKey }) => apiKey,
  done: ({ id, name, scopes }) => `“${name}” has the scopes ${scopes.join(", ")}. Its id is ${id}.`,
})

export const rotateKey = operation("keys rotate", {
  ...ofPartner,
  about: "Create a new key with the same scopes, show it once, and let the old key expire",
  label: "Rotate",
  of: { keyId: KeyId },
  input: {
    overlap: withDefault(field(Seconds, "Old key valid for", { hint: "Such as 24h or 0s", size: 6 }), "24h"),
  },
  run: ({ keyId, overlap }) => Effect.map(ApiKeys.rotateKey(keyId, overlap), withText),
  shownOnce: ({ apiKey }) => apiKey,
  done: ({ id }, { keyId, overlap }) =>
    `It replaces ${keyId}, which is valid for at most ${formatDuration(overlap)}. Its id is ${id}.`,
})

export const revokeKey = operation("keys revoke", {
  ...ofPartner,
  about: "Revoke a key immediately and permanently",
  label: "Revoke now",
  link: "Revoke",
  isIrreversible: true,
  of: { keyId: KeyId },
  *plan({ keyId }) {
    const { name, organizationId, lastFour, lastUsedAt, revokedAt } = yield* (yield* ApiKeyRepository).find(keyId)
    return {
      title: `Revoke “${name}” …${lastFour}`,
      many: "1 key",
      affects: yield* (yield* OrganizationReader).find(organizationId),
      when: "Immediately. Requests with it return 401.",
      facts: { "Last used": { at: lastUsedAt, none: "never" } },
      caution: revokedAt === null ? { word: name, because: "This can't be undone." } : undefined,
    }
  },
  run: ({ keyId }) => ApiKeyRepository.use(({ revoke }) => revoke(keyId)),
  done: ({ name }) => `Revoked “${name}”. Requests with it return 401.`,
})
