import { SCOPES } from "@outreach/contract/names"
import { commaSeparated } from "@outreach/domain/commaSeparated"
import { DisplayName } from "@outreach/domain/DisplayName"
import { KeyId } from "@outreach/domain/Identifier"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { DEFAULT_OVERLAP_SECONDS, type IssuedKey, issueKey, rotateKey } from "@outreach/domain/organizations/ApiKeys"
import { Seconds } from "@outreach/domain/Seconds"
import { ApiKeyRepositoryPg } from "@outreach/postgres/organizations/ApiKeyRepositoryPg"
import { Effect, Redacted } from "effect"
import { changing, group, reading } from "../Declaration.ts"
import { instant, organizationId } from "../inputs/filters.ts"
import { argument, flag, optional, withDefault } from "../inputs/Input.ts"
import { confirm, formatCell, yes } from "../output/Output.ts"

const withText = ({ key, text }: IssuedKey) => ({ ...key, apiKey: Redacted.value(text) })
const keepNow = () => "\nThe API key is shown this once; keep it now."

const keyId = argument(KeyId, "The key's id, key_…")

const create = changing({
  about: "Create an API key and show it once: a live key if DEPLOYMENT=production, otherwise a test key",
  examples: [`ops keys create --organization org_… --name "Nightly sync" --scopes events:read,digest:read`],
  input: {
    organizationId,
    name: flag(DisplayName, "A name for the key"),
    scopes: flag(commaSeparated(SCOPES), `Scopes, separated by commas: ${SCOPES.join(", ")}`),
    expires: optional(instant("When the key expires, a time such as 2027-01-01T00:00:00Z (default never)")),
  },
  run: ({ expires: expiresAt = null, ...key }) => Effect.map(issueKey({ ...key, expiresAt }), withText),
  note: keepNow,
})

const list = reading({
  about: "List an organization's API keys, oldest first, without their text",
  input: { organizationId },
  run: ({ organizationId }) => ApiKeyRepository.use(({ list }) => list(organizationId)),
  columns: ["id", "name", "prefix", "lastFour", "scopes", "createdAt", "lastUsedAt", "expiresAt", "revokedAt"],
})

const rotate = changing({
  about: "Create a new key with the same scopes, show it once, and let the old key expire",
  input: {
    keyId,
    overlap: withDefault(
      flag(Seconds, "How long the old key stays valid, such as 24h or 0s (default 24h)"),
      DEFAULT_OVERLAP_SECONDS,
    ),
  },
  run: ({ keyId, overlap }) => Effect.map(rotateKey(keyId, overlap), withText),
  note: keepNow,
})

const revoke = changing({
  about: "Revoke a key immediately and permanently. Requires confirmation or --yes",
  input: { keyId, yes },
  *run({ keyId, yes }) {
    const keys = yield* ApiKeyRepository
    const { name, organizationId, lastUsedAt, revokedAt } = yield* keys.find(keyId)
    const use = lastUsedAt === null ? "never used" : `last used ${formatCell(lastUsedAt)}`
    yield* confirm(
      `revoke API key ${keyId} "${name}" of ${organizationId} (${use}), so that its next request is answered with 401`,
      { yes: yes || revokedAt !== null },
    )
    return yield* keys.revoke(keyId)
  },
})

export const keys = group({
  about: "The partners' API keys",
  commands: { create, list, rotate, revoke },
  services: ApiKeyRepositoryPg,
})
