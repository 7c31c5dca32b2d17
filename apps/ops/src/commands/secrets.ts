import {
  DEFAULT_GRACE_SECONDS,
  MAX_ACTIVE_SECRETS,
  SigningSecretRepository,
} from "@outreach/domain/deliveries/SigningSecretRepository"
import { rotateSecretWithinBound } from "@outreach/domain/deliveries/SigningSecrets"
import { SecretId } from "@outreach/domain/Identifier"
import { Seconds } from "@outreach/domain/Seconds"
import { Effect, Redacted } from "effect"
import { changing, group, reading } from "../Declaration.ts"
import { endpointFilter, organizationId } from "../inputs/filters.ts"
import { argument, described, flag, optional, type Values, withDefault } from "../inputs/Input.ts"
import { confirm, refuse, yes } from "../output/Output.ts"
import { secretSummaries, signingSecrets } from "../secretCipher.ts"

const owner = {
  organizationId: optional(organizationId),
  endpointId: described(endpointFilter, "The endpoint, whe_…, instead of an organization"),
}

const ownerOf = ({ organizationId, endpointId }: Values<typeof owner>) => {
  if (organizationId !== undefined && endpointId === undefined) return Effect.succeed({ organizationId })
  if (endpointId !== undefined && organizationId === undefined) return Effect.succeed({ endpointId })
  return refuse("UnclearOwner", "Say whose secrets are meant: give either --organization or --endpoint.")
}

const rotate = changing({
  about:
    "Create the first or next signing secret of an organization or an endpoint, and show it once. An endpoint's first secret replaces the organization's after the grace period",
  examples: ["ops secrets rotate --organization org_…", "ops secrets rotate --endpoint whe_… --grace 48h"],
  input: {
    ...owner,
    grace: withDefault(
      flag(Seconds, "How long the older secrets stay active, such as 24h or 0s (default 24h)"),
      DEFAULT_GRACE_SECONDS,
    ),
  },
  *run({ grace: graceSeconds, ...given }) {
    const owner = yield* ownerOf(given)
    const { secret, ended } = yield* rotateSecretWithinBound(owner, graceSeconds)
    return { ...owner, graceSeconds, signingSecret: Redacted.value(secret), endedSecrets: ended }
  },
  note: ({ endedSecrets }) =>
    `${
      endedSecrets === 0
        ? ""
        : `\nAt most ${MAX_ACTIVE_SECRETS} secrets are active at once: the grace of the oldest (${endedSecrets}) has ended now.\n`
    }\nThe signing secret is shown this once; keep it now.`,
  services: signingSecrets,
})

const list = reading({
  about:
    "List the signing secrets of an organization with those of its endpoints, or of one endpoint, newest first; without their text",
  examples: ["ops secrets list --organization org_…", "ops secrets list --endpoint whe_…"],
  input: owner,
  *run(given) {
    const owner = yield* ownerOf(given)
    return yield* SigningSecretRepository.use(({ list }) => list(owner))
  },
  columns: ["id", "endpointId", "createdAt", "expiresAt", "lastVerifiedAt"],
  services: secretSummaries,
})

const revoke = changing({
  about:
    "Revoke a signing secret immediately and permanently, for example after a leak. Requires confirmation or --yes",
  input: { secretId: argument(SecretId, "The secret's id, sec_…"), yes },
  *run({ secretId, yes }) {
    const repository = yield* SigningSecretRepository
    const { secret, isActive, activeOthers } = yield* repository.find(secretId)
    const whose = secret.endpointId ?? secret.organizationId
    const rest =
      activeOthers === 0
        ? "so that its webhooks wait, and the partner's are answered with 401, until a new secret is made"
        : `which leaves ${activeOthers} active`
    yield* confirm(`revoke signing secret ${secret.id} of ${whose}, ${rest}`, { yes: yes || !isActive })
    return yield* repository.revoke(secret.id)
  },
  services: secretSummaries,
})

export const secrets = group({ about: "The secrets that sign webhooks", commands: { rotate, list, revoke } })
