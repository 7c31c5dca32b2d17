import {
  DEFAULT_GRACE_SECONDS,
  MAX_ACTIVE_SECRETS,
  SigningSecretRepository,
} from "@outreach/domain/deliveries/SigningSecretRepository"
import { rotateSecretWithinBound } from "@outreach/domain/deliveries/SigningSecrets"
import { SecretId } from "@outreach/domain/Identifier"
import { Seconds } from "@outreach/domain/Seconds"
import { Redacted } from "effect"
import { changing, group, reading } from "../Declaration.ts"
import { organizationId } from "../inputs/filters.ts"
import { argument, flag, withDefault } from "../inputs/Input.ts"
import { confirm, printRecord, printToStderr, yes } from "../output/Output.ts"
import { secretSummaries, signingSecrets } from "../secretCipher.ts"

const rotate = changing({
  about: "Create an organization's first or next signing secret, and show it only once",
  input: {
    organizationId,
    grace: withDefault(
      flag(Seconds, "How long the older secrets stay active, such as 24h or 0s (default 24h)"),
      DEFAULT_GRACE_SECONDS,
    ),
  },
  *run({ organizationId, grace: graceSeconds }) {
    const { secret, ended } = yield* rotateSecretWithinBound(organizationId, graceSeconds)
    yield* printRecord({ organizationId, graceSeconds, signingSecret: Redacted.value(secret) })
    if (ended > 0) {
      yield* printToStderr(
        `\nAt most ${MAX_ACTIVE_SECRETS} secrets are active at once: the grace of the oldest (${ended}) has ended now.`,
      )
    }
    yield* printToStderr("\nThe signing secret is shown this once; keep it now.")
  },
  services: signingSecrets,
})

const list = reading({
  about:
    "List an organization's signing secrets, newest first; never their text. When one last signed is up to five minutes late, when one last verified up to one",
  input: { organizationId },
  run: ({ organizationId }) => SigningSecretRepository.use(({ list }) => list(organizationId)),
  columns: ["id", "createdAt", "expiresAt", "lastUsedAt", "lastVerifiedAt"],
  services: secretSummaries,
})

const revoke = changing({
  about: "Revoke a signing secret now, for good, such as one that leaked. Asks first, or needs --yes",
  input: { secretId: argument(SecretId, "The secret's id, sec_…"), yes },
  *run({ secretId, yes }) {
    const repository = yield* SigningSecretRepository
    const { secret, isActive, activeOthers } = yield* repository.find(secretId)
    const rest =
      activeOthers === 0
        ? "so that its webhooks wait, and the partner's are answered with 401, until a new secret is made"
        : `which leaves ${activeOthers} active`
    yield* confirm(`revoke signing secret ${secret.id} of ${secret.organizationId}, ${rest}`, { yes: yes || !isActive })
    return yield* repository.revoke(secret.id)
  },
  services: secretSummaries,
})

export const secrets = group({ about: "The secrets that sign webhooks", commands: { rotate, list, revoke } })
