import { SCOPES } from "@outreach/contract/names"
import { commaSeparated } from "@outreach/domain/commaSeparated"
import { DisplayName } from "@outreach/domain/DisplayName"
import { KeyId } from "@outreach/domain/Identifier"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { DEFAULT_OVERLAP_SECONDS, type IssuedKey, issueKey, rotateKey } from "@outreach/domain/organizations/ApiKeys"
import { Seconds } from "@outreach/domain/Seconds"
import { ApiKeyRepositoryPg } from "@outreach/postgres/organizations/ApiKeyRepositoryPg"
import { Effect, Option, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { changing, reading } from "../audit/Access.ts"
import { organization } from "../inputs/commonFlags.ts"
import { parsedArgument, parsedFlag } from "../inputs/parsedInput.ts"
import { instant } from "../inputs/times.ts"
import { confirm, yes } from "../output/confirm.ts"
import { formatCell } from "../output/format.ts"
import { printList, printRecord, printToStderr } from "../output/Output.ts"

const keyId = parsedArgument("key", KeyId, "The key's id, key_…")

const issue = changing(
  "issue",
  {
    organization,
    name: parsedFlag("name", DisplayName, "What the key is for"),
    scopes: parsedFlag(
      "scopes",
      commaSeparated(SCOPES),
      `What the key may do, separated by commas: ${SCOPES.join(", ")}`,
    ),
    expires: instant("expires", "When the key expires, a time such as 2027-01-01T00:00:00Z (default never)").pipe(
      Flag.optional,
    ),
  },
  Effect.fn("ops.keys.issue")(function* (input) {
    const { organization: organizationId, name, scopes } = input
    const expiresAt = Option.getOrNull(input.expires)
    yield* printIssued(yield* issueKey({ organizationId, name, scopes, expiresAt }))
  }),
).pipe(
  Command.withDescription(
    "Issue an API key, and show it only once; a live key if DEPLOYMENT=production, else a test key",
  ),
  Command.withExamples([
    { command: `ops keys issue --organization org_… --name "Nightly sync" --scopes events:read,digest:read` },
  ]),
)

const list = reading(
  "list",
  { organization },
  Effect.fn("ops.keys.list")(function* (input) {
    yield* printList(yield* (yield* ApiKeyRepository).list(input.organization), [
      "id",
      "name",
      "prefix",
      "lastFour",
      "scopes",
      "createdAt",
      "lastUsedAt",
      "expiresAt",
      "revokedAt",
    ])
  }),
).pipe(Command.withDescription("List an organization's API keys, oldest first; never their text"))

const rotate = changing(
  "rotate",
  {
    key: keyId,
    overlap: parsedFlag("overlap", Seconds, "How long the old key stays valid, such as 24h or 0s (default 24h)").pipe(
      Flag.withDefault(DEFAULT_OVERLAP_SECONDS),
    ),
  },
  Effect.fn("ops.keys.rotate")(function* ({ key, overlap }) {
    yield* printIssued(yield* rotateKey(key, overlap))
  }),
).pipe(Command.withDescription("Issue a successor with the same scopes, show it only once, and let the old key expire"))

const revoke = changing(
  "revoke",
  { key: keyId, yes },
  Effect.fn("ops.keys.revoke")(function* ({ key, yes }) {
    const keys = yield* ApiKeyRepository
    const { name, organizationId, lastUsedAt, revokedAt } = yield* keys.find(key)
    const use = lastUsedAt === null ? "never used" : `last used ${formatCell(lastUsedAt)}`
    yield* confirm(
      `revoke API key ${key} "${name}" of ${organizationId} (${use}), so that its next request is answered with 401`,
      { yes: yes || revokedAt !== null },
    )
    yield* printRecord(yield* keys.revoke(key))
  }),
).pipe(Command.withDescription("Revoke a key now, for good. Asks first, or needs --yes"))

/** `ops keys …` */
export const keys = Command.make("keys").pipe(
  Command.withDescription("The partners' API keys"),
  Command.withSubcommands([issue, list, rotate, revoke]),
  Command.provide(ApiKeyRepositoryPg),
)

const printIssued = Effect.fnUntraced(function* ({ key, text }: IssuedKey) {
  yield* printRecord({ ...key, apiKey: Redacted.value(text) })
  yield* printToStderr("\nThe API key is shown this once; keep it now.")
})
