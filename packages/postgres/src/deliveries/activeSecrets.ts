import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import type { SigningSecret } from "@outreach/domain/deliveries/DeliveryLeases"
import { MAX_ACTIVE_SECRETS } from "@outreach/domain/deliveries/SigningSecretRepository"
import { EndpointId, OrganizationId, SecretId } from "@outreach/domain/Identifier"
import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { decodeRows } from "../rowsOf.ts"
import { SecretCipher } from "./SecretCipher.ts"

/** A secret, and the endpoints that it signs for: an organization may have thousands, and each secret is decrypted once. */
const decode = decodeRows({
  organizationId: OrganizationId,
  id: SecretId,
  ciphertext: Schema.Uint8Array,
  endsInMs: Schema.NullOr(Schema.Number),
  endpoints: Schema.Array(EndpointId),
})

/** How often the use of a secret is noted, and so how late the note may be. */
const NOTED_EVERY_MS = 300_000

/** Creates what reads and decrypts the secrets that sign for endpoints, and what notes that they signed. */
export const activeSecrets = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const cipher = yield* SecretCipher
  /** The secrets of each endpoint that were read last. */
  const known = new Map<EndpointId, ReadonlyArray<SecretId>>()
  const noted = new Map<SecretId, number>()

  const secrets = Effect.fnUntraced(function* (endpointIds: ReadonlyArray<EndpointId>) {
    const found = new Map<EndpointId, ReadonlyArray<SigningSecret>>()
    if (endpointIds.length === 0) return found
    const rows = yield* sql`
      select organization_id as "organizationId", id, ciphertext, array_agg(endpoint_id) as endpoints,
        (extract(epoch from ends_at - clock_timestamp()) * 1000)::double precision as "endsInMs"
      from signing_secrets_of(${endpointIds}::text[], ${MAX_ACTIVE_SECRETS}::int)
      group by organization_id, id, ciphertext, ends_at order by min(rank), id desc`.pipe(decode)
    for (const id of endpointIds) known.delete(id)
    // One organization's unreadable secret must not stop the others' deliveries.
    const unsigned = new Set<EndpointId>()
    for (const { organizationId, id, ciphertext, endsInMs, endpoints } of rows) {
      const secret = yield* Effect.try(() => cipher.decrypt(ciphertext, organizationId)).pipe(
        Effect.catch(() =>
          Effect.as(
            Effect.logError(
              "a signing secret cannot be decrypted; does SECRETS_KEY hold the key it was encrypted with?",
              { organizationId },
            ),
            undefined,
          ),
        ),
      )
      for (const endpoint of endpoints) {
        if (secret === undefined) unsigned.add(endpoint)
        else {
          found.set(endpoint, [...(found.get(endpoint) ?? []), { secret, endsInMs }])
          known.set(endpoint, [...(known.get(endpoint) ?? []), id])
        }
      }
    }
    for (const endpoint of unsigned) found.delete(endpoint)
    return found
  })

  /** Notes when the secrets that sign were last used: one statement in five minutes, and never a wait. */
  const noteUse = Effect.fnUntraced(
    function* (deliveries: ReadonlyArray<Pick<Delivery, "endpointId">>) {
      const now = yield* Clock.currentTimeMillis
      const endpoints = new Set(deliveries.map(({ endpointId }) => endpointId))
      const used = new Set([...endpoints].flatMap((id) => known.get(id) ?? []))
      const due = [...used].filter((id) => now - (noted.get(id) ?? Number.NEGATIVE_INFINITY) >= NOTED_EVERY_MS)
      if (due.length === 0) return
      yield* sql`
        update signing_secrets set last_used_at = clock_timestamp()
        where id in (
          select id from signing_secrets
          where id = any (${due}::text[]) and (expires_at is null or expires_at > clock_timestamp())
            and (last_used_at is null
              or last_used_at < clock_timestamp() - make_interval(secs => ${NOTED_EVERY_MS / 1000}::double precision))
          for update skip locked
        )`
      for (const id of due) noted.set(id, now)
    },
    // The note is not worth a lease; the next claim tries again.
    (noting) => Effect.ignore(noting),
  )

  return { secrets, noteUse }
})
