import type { ActiveSecret } from "@outreach/domain/deliveries/Delivery"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { SecretCipher } from "./SecretCipher.ts"

/** How many organizations' secrets are remembered. */
const MAX_REMEMBERED = 10_000

interface SecretRow {
  readonly id: string
  readonly organizationId: OrganizationId
  readonly ciphertext: Uint8Array
  readonly expiresAt: number | null
}

/**
 * Creates the function that returns decrypted secrets by the ids of all that are active in an organization, separated by commas.
 *
 * They are remembered by these ids, so that a rotation is seen at once. Secrets of which one cannot be decrypted are undefined.
 */
export const activeSecrets = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const cipher = yield* SecretCipher
  const remembered = new Map<string, ReadonlyArray<ActiveSecret> | undefined>()

  // One organization's unreadable secret must not stop the others' deliveries.
  const decryptAll = (secrets: ReadonlyArray<SecretRow>) =>
    Effect.try(
      (): ReadonlyArray<ActiveSecret> =>
        secrets.map(({ ciphertext, expiresAt, organizationId }) => ({
          secret: cipher.decrypt(ciphertext, organizationId),
          expiresAt,
        })),
    ).pipe(
      Effect.catch(() =>
        Effect.as(
          Effect.logError(
            "a signing secret cannot be decrypted; does SECRETS_KEY hold the key it was encrypted with?",
            {
              organizationId: secrets[0]!.organizationId,
            },
          ),
          undefined,
        ),
      ),
    )

  return Effect.fnUntraced(function* (idLists: ReadonlyArray<string>) {
    if (remembered.size > MAX_REMEMBERED) remembered.clear()
    const unknown = [...new Set(idLists)].filter((ids) => !remembered.has(ids))
    if (unknown.length > 0) {
      const rows = yield* sql<SecretRow>`
        select id, organization_id as "organizationId", ciphertext, extract(epoch from expires_at)::double precision * 1000 as "expiresAt"
        from signing_secrets where id = any (${unknown.flatMap((ids) => ids.split(","))}::text[]) order by id desc`
      for (const ids of unknown) {
        remembered.set(ids, yield* decryptAll(rows.filter(({ id }) => ids.includes(id))))
      }
    }
    return remembered as ReadonlyMap<string, ReadonlyArray<ActiveSecret> | undefined>
  })
})

/** How often the use of a secret is noted, and so how late the note may be. */
const NOTED_EVERY_MS = 300_000

/** Creates the function that notes when organizations' active secrets were last used: one statement in five minutes, and never a wait. */
export const touchSecrets = (sql: SqlClient.SqlClient) => {
  const noted = new Map<OrganizationId, number>()
  return Effect.fnUntraced(
    function* (organizationIds: ReadonlyArray<OrganizationId>) {
      const now = yield* Clock.currentTimeMillis
      const due = organizationIds.filter((id) => now - (noted.get(id) ?? Number.NEGATIVE_INFINITY) >= NOTED_EVERY_MS)
      if (due.length === 0) return
      yield* sql`
        update signing_secrets set last_used_at = clock_timestamp()
        where id in (
          select id from signing_secrets
          where organization_id = any (${due}::text[]) and (expires_at is null or expires_at > clock_timestamp())
            and (last_used_at is null
              or last_used_at < clock_timestamp() - make_interval(secs => ${NOTED_EVERY_MS / 1000}::double precision))
          for update skip locked
        )`
      for (const id of due) noted.set(id, now)
    },
    // The note is not worth a lease; the next claim tries again.
    (noting) => Effect.ignore(noting),
  )
}
