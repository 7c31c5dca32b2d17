import type { SigningSecret } from "@outreach/domain/deliveries/DeliveryLeases"
import { MAX_ACTIVE_SECRETS } from "@outreach/domain/deliveries/SigningSecretRepository"
import { OrganizationId } from "@outreach/domain/Identifier"
import { Array as Arr, Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { decodeRows } from "../rowsOf.ts"
import { SecretCipher } from "./SecretCipher.ts"

const SecretRow = Schema.Struct({
  organizationId: OrganizationId,
  ciphertext: Schema.Uint8Array,
  endsInMs: Schema.NullOr(Schema.Number),
})
const decode = decodeRows(SecretRow.fields)

/** Creates the function that reads and decrypts the secrets that sign for organizations, newest first. */
export const activeSecrets = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const cipher = yield* SecretCipher

  // One organization's unreadable secret must not stop the others' deliveries.
  const decryptAll = (organizationId: OrganizationId, rows: ReadonlyArray<typeof SecretRow.Type>) =>
    Effect.try(() =>
      rows.map(({ ciphertext, endsInMs }) => ({ secret: cipher.decrypt(ciphertext, organizationId), endsInMs })),
    ).pipe(
      Effect.catch(() =>
        Effect.as(
          Effect.logError(
            "a signing secret cannot be decrypted; does SECRETS_KEY hold the key it was encrypted with?",
            { organizationId },
          ),
          [],
        ),
      ),
    )

  return Effect.fnUntraced(function* (organizationIds: ReadonlyArray<OrganizationId>) {
    const secrets = new Map<OrganizationId, ReadonlyArray<SigningSecret>>()
    if (organizationIds.length === 0) return secrets
    const rows = yield* sql`
      select organization_id as "organizationId", ciphertext,
        (extract(epoch from expires_at - clock_timestamp()) * 1000)::double precision as "endsInMs"
      from signing_secrets
      where organization_id = any (${organizationIds}::text[]) and (expires_at is null or expires_at > clock_timestamp())
      order by id desc`.pipe(decode)
    for (const [organizationId, found] of Object.entries(Arr.groupBy(rows, (row) => row.organizationId))) {
      const id = organizationId as OrganizationId
      secrets.set(id, yield* decryptAll(id, found.slice(0, MAX_ACTIVE_SECRETS)))
    }
    return secrets
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
