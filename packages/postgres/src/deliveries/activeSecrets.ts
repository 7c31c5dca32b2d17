import type { SigningSecret } from "@outreach/domain/deliveries/DeliveryLeases"
import { MAX_ACTIVE_SECRETS } from "@outreach/domain/deliveries/SigningSecrets"
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

/**
 * Creates the query of the active signing secrets of endpoints: their own, and those of their organizations until `shared_secrets_until`; at
 * most `MAX_ACTIVE_SECRETS` for each endpoint. `rank` is their order: an endpoint's own first, then the newest. `ends_at` is null for no end.
 */
export const activeSecretsOf = (sql: SqlClient.SqlClient, endpointIds: ReadonlyArray<EndpointId>) => sql`
  select endpoint.id as endpoint_id, endpoint.organization_id, secret.*
  from webhook_endpoints endpoint cross join lateral (
    select id, ciphertext, ends_at, row_number() over (order by is_own desc, created_at desc, id desc) as rank from (
      select id, ciphertext, expires_at as ends_at, created_at, true as is_own from signing_secrets
      where organization_id = endpoint.organization_id and endpoint_id = endpoint.id
      union all
      select id, ciphertext, least(expires_at, nullif(shared_secrets_until, 'infinity')), created_at, false from signing_secrets
      where organization_id = endpoint.organization_id and endpoint_id is null
    ) known
    where ends_at is null or ends_at > clock_timestamp()
    order by rank limit ${MAX_ACTIVE_SECRETS}::int
  ) secret
  where endpoint.id = any (${endpointIds}::text[]) and removed_at is null`

/** Creates the function that reads and decrypts the active secrets of endpoints. */
export const activeSecrets = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const cipher = yield* SecretCipher

  const secrets = Effect.fnUntraced(function* (endpointIds: ReadonlyArray<EndpointId>) {
    const found = new Map<EndpointId, ReadonlyArray<SigningSecret>>()
    if (endpointIds.length === 0) return found
    const rows = yield* sql`
      select ${columns} from (${activeSecretsOf(sql, endpointIds)}) secret
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
