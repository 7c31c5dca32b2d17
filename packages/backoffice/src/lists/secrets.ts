import { DescribedError } from "@outreach/domain/DescribedError"
import {
  type SecretOwner,
  type SecretSummary,
  SigningSecretRepository,
} from "@outreach/domain/deliveries/SigningSecrets"
import { EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Clock, Effect } from "effect"
import { field, type ValuesOf } from "../operations/Field.ts"
import { badge, inOps, list, text, time } from "./List.ts"

class UnclearOwner extends DescribedError(
  "UnclearOwner",
  "Name the owner of the secrets: either an organization or an endpoint.",
) {}

export const secretOwner = {
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
    endpointId: inOps,
    state: badge("State", { active: "good", expiring: "good" }),
    createdAt: time("Created"),
    expiresAt: time("Expires", "never"),
    lastVerifiedAt: time("Last used by partner", "never"),
  },
  empty: "No secrets. Rotate to create the first.",
})
