import { DescribedError } from "@outreach/domain/DescribedError"
import {
  MAX_ACTIVE_SECRETS,
  rotateSecretWithinBound,
  type SecretOwner,
  type SecretSummary,
  SigningSecretRepository,
} from "@outreach/domain/deliveries/SigningSecrets"
import { EndpointId, OrganizationId, SecretId } from "@outreach/domain/Identifier"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Seconds } from "@outreach/domain/textSchema"
import { Clock, Effect, Redacted } from "effect"
import { OrganizationReader } from "../organizations/OrganizationReader.ts"
import { field, type ValuesOf, withDefault } from "./Field.ts"
import { badge, inOps, list, text, time } from "./List.ts"
import { operation } from "./Operation.ts"

class UnclearOwner extends DescribedError(
  "UnclearOwner",
  "Name the owner of the secrets: either an organization or an endpoint.",
) {}

const secretOwner = {
  organizationId: field(OrganizationId, "Organization", { kind: "choice" }),
  endpointId: field(EndpointId, "Endpoint", { hint: "Instead of an organization" }),
}

export const ownerOf = (given: ValuesOf<typeof secretOwner>): Effect.Effect<SecretOwner, UnclearOwner> => {
  const { organizationId, endpointId } = given
  if (organizationId !== undefined && endpointId === undefined) return Effect.succeed({ organizationId })
  if (endpointId !== undefined && organizationId === undefined) return Effect.succeed({ endpointId })
  return new UnclearOwner()
}

const stateOf = ({ expiresAt }: SecretSummary, now: number) => {
  if (expiresAt === null) return "active"
  return toUnixMillis(expiresAt) > now ? "expiring" : "expired"
}

export const secrets = list("secrets list", {
  about:
    "List the signing secrets of an organization with those of its endpoints, or of one endpoint, newest first; without their text",
  examples: ["ops secrets list --organization org_…", "ops secrets list --endpoint whe_…"],
  filters: secretOwner,
  *read(filter) {
    const now = yield* Clock.currentTimeMillis
    const owner = yield* ownerOf(filter)
    const secrets = yield* SigningSecretRepository.use(({ list }) => list(owner))
    return secrets.map((secret) => ({ ...secret, state: stateOf(secret, now) }))
  },
  columns: {
    id: text("Secret"),
    ...inOps("endpointId"),
    state: badge("State", { active: "good", expiring: "good" }),
    createdAt: time("Created"),
    expiresAt: time("Expires", "never"),
    lastVerifiedAt: time("Last verified", "never"),
  },
  empty: "No secrets.",
  filledBy: "secrets rotate",
})

export const rotateSecret = operation("secrets rotate", {
  forPartners: true,
  about:
    "Create the first or next signing secret of an organization or an endpoint, and show it once. An endpoint's first secret replaces the organization's after the grace period",
  label: "Rotate secret",
  input: {
    ...secretOwner,
    grace: withDefault(
      field(Seconds, "Old secrets active for", { hint: "Such as 24h or 7d; 0s deactivates them now", size: 8 }),
      "24h",
    ),
  },
  *run({ grace: graceSeconds, ...given }) {
    const owner = yield* ownerOf(given)
    const { secret, ended } = yield* rotateSecretWithinBound(owner, graceSeconds)
    return { ...owner, graceSeconds, signingSecret: Redacted.value(secret), endedSecrets: ended }
  },
  shownOnce: ({ signingSecret }) => signingSecret,
  done: ({ endedSecrets }) =>
    `We sign with it from now on. Check that the old one is no longer used before it expires.${
      endedSecrets === 0
        ? ""
        : ` At most ${MAX_ACTIVE_SECRETS} secrets can be active, so the oldest (${endedSecrets}) are expired now.`
    }`,
  examples: ["ops secrets rotate --endpoint whe_… --grace 48h"],
})

export const revokeSecret = operation("secrets revoke", {
  about: "Revoke a signing secret immediately and permanently, for example after a leak",
  label: "Revoke now",
  link: "Revoke",
  isIrreversible: true,
  of: { secretId: SecretId },
  *plan({ secretId }) {
    const { secret, isActive, activeOthers } = yield* (yield* SigningSecretRepository).find(secretId)
    const affects = yield* (yield* OrganizationReader).find(secret.organizationId)
    const { endpointId, lastVerifiedAt } = secret
    const rest = activeOthers === 0 ? " It is the only active secret: webhooks stop until you create one." : ""
    const owner = endpointId === null ? "" : ` of ${endpointId}`
    return {
      title: `Revoke ${secretId}${owner}`,
      many: `1 secret, ${activeOthers} active without it`,
      affects,
      when: "Immediately. It no longer signs or verifies webhooks.",
      facts: {
        ...(endpointId && { Endpoint: { id: endpointId, name: endpointId } }),
        "Last verified": { at: lastVerifiedAt, none: "never" },
      },
      caution: isActive ? { word: affects.name, because: `This can't be undone.${rest}` } : undefined,
    }
  },
  run: ({ secretId }) => SigningSecretRepository.use(({ revoke }) => revoke(secretId)),
  done: ({ id }) => `Revoked ${id}. It no longer signs or verifies webhooks.`,
})
