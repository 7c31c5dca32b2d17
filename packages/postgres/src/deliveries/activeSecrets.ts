import type { SigningSecret } from "@outreach/domain/deliveries/DeliveryLeases"
import { MAX_ACTIVE_SECRETS } from "@outreach/domain/deliveries/SigningSecretRepository"
import { EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../rowsOf.ts"
import { SecretCipher } from "./SecretCipher.ts"

/** A secret with the endpoints that it signs for. Each secret is decrypted once, because an organization may have thousands of endpoints. */
const { columns, decode } = rowsOf(
  Schema.Struct({
    organizationId: OrganizationId,
    ciphertext: Schema.Uint8Array,
    endsInMs: Schema.NullOr(Schema.Number),
    endpoints: Schema.Array(EndpointId),
  }),
  {
    endsInMs: "(extract(epoch from ends_at - clock_timestamp()) * 1000)::double precision",
    endpoints: "array_agg(endpoint_id)",
  },
)

/** Creates the function that reads and decrypts the active secrets of endpoints. */
export const activeSecrets = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const cipher = yield* SecretCipher

  const secrets = Effect.fnUntraced(function* (endpointIds: ReadonlyArray<EndpointId>) {
    const found = new Map<EndpointId, ReadonlyArray<SigningSecret>>()
    if (endpointIds.length === 0) return found
    const rows = yield* sql`
      select ${columns} from signing_secrets_of(${endpointIds}::text[], ${MAX_ACTIVE_SECRETS}::int)
      group by organization_id, id, ciphertext, ends_at order by min(rank), id desc`.pipe(decode)
    // An unreadable secret of one organization must not block the deliveries of the other organizations.
    const unsigned = new Set<EndpointId>()
    for (const { organizationId, ciphertext, endsInMs, endpoints } of rows) {
      const secret = yield* Effect.try(() => cipher.decrypt(ciphertext, organizationId)).pipe(
        Effect.catch(() =>
          Effect.as(
            Effect.logError("signing secret cannot be decrypted; check that SECRETS_KEY contains its key", {
              organizationId,
            }),
            undefined,
          ),
        ),
      )
      for (const endpoint of endpoints) {
        if (secret === undefined) unsigned.add(endpoint)
        else found.set(endpoint, [...(found.get(endpoint) ?? []), { secret, endsInMs }])
      }
    }
    for (const endpoint of unsigned) found.delete(endpoint)
    return found
  })

  return secrets
})
