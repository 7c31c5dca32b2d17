import { type SecretSummary, SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Clock, Effect } from "effect"
import { ownerOf, secretOwner } from "../operations/secrets.ts"
import { badge, inOps, list, text, time } from "./List.ts"

const stateOf = ({ expiresAt }: SecretSummary, now: number) => {
  if (expiresAt === null) return "active"
  return toUnixMillis(expiresAt) > now ? "expiring" : "expired"
}

export const secrets = list("secrets list", {
  about:
    "List the signing secrets of an organization with those of its endpoints, or of one endpoint, newest first; without their text",
  examples: ["ops secrets list --organization org_…", "ops secrets list --endpoint whe_…"],
  filters: secretOwner,
  read: Effect.fnUntraced(function* (filter) {
    const now = yield* Clock.currentTimeMillis
    const owner = yield* ownerOf(filter)
    const secrets = yield* SigningSecretRepository.use(({ list }) => list(owner))
    return secrets.map((secret) => ({ ...secret, state: stateOf(secret, now) }))
  }),
  columns: {
    id: text("Secret"),
    endpointId: inOps,
    state: badge("State", { active: "good", expiring: "good" }),
    createdAt: time("Created"),
    expiresAt: time("Expires", "never"),
    lastVerifiedAt: time("Last used by partner", "never"),
  },
  empty: "No secrets. Rotate to create the first.",
})
