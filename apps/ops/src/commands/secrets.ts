import {
  DEFAULT_GRACE_SECONDS,
  MAX_ACTIVE_SECRETS,
  SigningSecretRepository,
} from "@outreach/domain/deliveries/SigningSecretRepository"
import { rotateSecretWithinBound } from "@outreach/domain/deliveries/SigningSecrets"
import { SecretId } from "@outreach/domain/Identifier"
import { Seconds } from "@outreach/domain/Seconds"
import { Effect, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { changing, reading } from "../audit/Access.ts"
import { organization } from "../inputs/commonFlags.ts"
import { parsedArgument, parsedFlag } from "../inputs/parsedInput.ts"
import { confirm, yes } from "../output/confirm.ts"
import { printList, printRecord, printToStderr } from "../output/Output.ts"
import { secretSummaries, signingSecrets } from "../signingSecrets.ts"

const rotate = changing(
  "rotate",
  {
    organization,
    grace: parsedFlag("grace", Seconds, "How long the older secrets stay active, such as 24h or 0s (default 24h)").pipe(
      Flag.withDefault(DEFAULT_GRACE_SECONDS),
    ),
  },
  Effect.fn("ops.secrets.rotate")(function* ({ organization: organizationId, grace: graceSeconds }) {
    const { secret, ended } = yield* rotateSecretWithinBound(organizationId, graceSeconds)
    yield* printRecord({ organizationId, graceSeconds, signingSecret: Redacted.value(secret) })
    if (ended > 0) {
      yield* printToStderr(
        `\nAt most ${MAX_ACTIVE_SECRETS} secrets are active at once: the grace of the oldest (${ended}) has ended now.`,
      )
    }
    yield* printToStderr("\nThe signing secret is shown this once; keep it now.")
  }),
).pipe(
  Command.withDescription("Create an organization's first or next signing secret, and show it only once"),
  Command.provide(signingSecrets),
)

const list = reading(
  "list",
  { organization },
  Effect.fn("ops.secrets.list")(function* (input) {
    const secrets = yield* (yield* SigningSecretRepository).list(input.organization)
    yield* printList(secrets, ["id", "createdAt", "expiresAt", "lastUsedAt", "lastVerifiedAt"])
  }),
).pipe(
  Command.withDescription(
    "List an organization's signing secrets, newest first; never their text. When one last signed is up to five minutes late, when one last verified up to one",
  ),
  Command.provide(secretSummaries),
)

const revoke = changing(
  "revoke",
  {
    secret: parsedArgument("secret", SecretId, "The secret's id, sec_…"),
    yes,
  },
  Effect.fn("ops.secrets.revoke")(function* (input) {
    const repository = yield* SigningSecretRepository
    const { secret, isActive, activeOthers } = yield* repository.find(input.secret)
    const rest =
      activeOthers === 0
        ? "so that its webhooks wait, and the partner's are answered with 401, until a new secret is made"
        : `which leaves ${activeOthers} active`
    yield* confirm(`revoke signing secret ${secret.id} of ${secret.organizationId}, ${rest}`, {
      yes: input.yes || !isActive,
    })
    yield* printRecord(yield* repository.revoke(secret.id))
  }),
).pipe(
  Command.withDescription("Revoke a signing secret now, for good, such as one that leaked. Asks first, or needs --yes"),
  Command.provide(secretSummaries),
)

/** `ops secrets …` */
export const secrets = Command.make("secrets").pipe(
  Command.withDescription("The secrets that sign webhooks"),
  Command.withSubcommands([rotate, list, revoke]),
)
