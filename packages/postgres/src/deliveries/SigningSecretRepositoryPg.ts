import { hash } from "node:crypto"
import type { SigningSecret } from "@outreach/domain/deliveries/DeliveryLeases"
import {
  MAX_ACTIVE_SECRETS,
  SecretNotFound,
  type SecretOwner,
  SecretSummary,
  SigningSecretRepository,
} from "@outreach/domain/deliveries/SigningSecrets"
import { EndpointId, OrganizationId, SecretId } from "@outreach/domain/Identifier"
import { OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import { Effect, Redacted, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { adapter } from "../adapter.ts"
import { Hints } from "../events/Hints.ts"
import { equal, first, firstOr, rowsOf } from "../rowsOf.ts"
import { assertEndpointPresent } from "./assertEndpointPresent.ts"
import { SecretCipher } from "./SecretCipher.ts"

const summaries = rowsOf(SecretSummary)
const found = rowsOf(Schema.Struct({ ...SecretSummary.fields, isActive: Schema.Boolean, activeOthers: Schema.Int }), {
  isActive: "expires_at is null or expires_at > clock_timestamp()",
})
const owned = rowsOf(
  Schema.Struct({
    organizationId: OrganizationId,
    id: Schema.NullOr(SecretId),
    ciphertext: Schema.NullOr(Schema.Uint8Array),
    expiresAt: Schema.NullOr(Schema.Number),
  }),
  {
    organizationId: "endpoint.organization_id",
    id: "secret.id",
    expiresAt: "extract(epoch from ends_at)::double precision * 1000",
  },
)
/** A secret with the endpoints that it signs for. Each secret is decrypted once, because an organization may have thousands of endpoints. */
const active = rowsOf(
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

/** Stores signing secrets in PostgreSQL, encrypted. */
export const SigningSecretRepositoryPg = adapter(SigningSecretRepository, function* (sql) {
  const cipher = yield* SecretCipher
  const hashed = (secret: Redacted.Redacted) => sql`decode(${hash("sha256", Redacted.value(secret), "hex")}, 'hex')`
  const hints = yield* Hints

  /** Serializes rotations, so that none misses the new secret of another one; returns the owner's organization. */
  const lock = Effect.fnUntraced(function* (owner: SecretOwner) {
    if ("organizationId" in owner) {
      const { organizationId } = owner
      const found = yield* sql`select from organizations where id = ${organizationId} for no key update`
      return found.length > 0 ? organizationId : yield* new OrganizationNotFound({ organizationId })
    }
    const { endpointId } = owner
    yield* sql`select from webhook_endpoints where id = ${endpointId} for no key update`
    return yield* assertEndpointPresent(sql, endpointId)
  })

  return {
    rotate: Effect.fnUntraced(function* (owner, secret, graceSeconds) {
      const organizationId = yield* lock(owner)
      const graceEnd = sql`clock_timestamp() + make_interval(secs => ${graceSeconds}::double precision)`
      const endpointId = "endpointId" in owner ? owner.endpointId : null
      yield* sql`
          update webhook_endpoints set shared_secrets_until = least(shared_secrets_until, ${graceEnd}) where id = ${endpointId}`
      const isOwned = sql`organization_id = ${organizationId} and endpoint_id is not distinct from ${endpointId}`
      yield* sql`update signing_secrets set expires_at = least(expires_at, ${graceEnd}) where ${isOwned}`
      const ended = yield* sql`
            update signing_secrets set expires_at = clock_timestamp()
            where organization_id = ${organizationId} and id in (
              select id from signing_secrets
              where ${isOwned} and (expires_at is null or expires_at > clock_timestamp())
              -- Ids that were created in the same millisecond aren't ordered.
              order by created_at desc, id desc offset ${MAX_ACTIVE_SECRETS - 1}
            )
            returning id`
      yield* sql`
            insert into signing_secrets (organization_id, endpoint_id, ciphertext, hash)
            values (${organizationId}, ${endpointId}, ${cipher.encrypt(secret, organizationId)}, ${hashed(secret)})`
      yield* hints.give("endpoints")
      return ended.length
    }),

    ofEndpoint: Effect.fnUntraced(function* (endpointId) {
      const rows = yield* sql`
          select ${owned.columns} from webhook_endpoints endpoint
          left join (${activeSecretsOf(sql, [endpointId])}) secret on true
          where endpoint.id = ${endpointId} and removed_at is null order by rank`.pipe(owned.decode)
      const organizationId = rows[0]?.organizationId
      if (organizationId === undefined) return undefined
      const secrets = rows.flatMap(({ id, ciphertext, expiresAt }) =>
        id === null || ciphertext === null
          ? []
          : [{ id, secret: cipher.decrypt(ciphertext, organizationId), expiresAt }],
      )
      return { organizationId, secrets }
    }),

    list: (owner) =>
      sql`
          select ${summaries.columns} from signing_secrets secret
          where ${"endpointId" in owner ? equal({ endpoint_id: owner.endpointId }) : equal({ organization_id: owner.organizationId })}
          order by id desc`.pipe(summaries.decode),

    noteVerification: (secretId) =>
      sql`
          update signing_secrets set last_verified_at = statement_timestamp()
          where id in (
            select id from signing_secrets
            where id = ${secretId} and (last_verified_at is null or last_verified_at < statement_timestamp() - interval '1 minute')
            for no key update skip locked
          )`,

    find: Effect.fnUntraced(function* (secretId) {
      const { isActive, activeOthers, ...secret } = yield* sql`
          select ${found.columns} from signing_secrets secret cross join lateral (
            select count(*)::int as active_others from signing_secrets other
            where other.organization_id = secret.organization_id and other.endpoint_id is not distinct from secret.endpoint_id
              and other.id <> secret.id
              and (other.expires_at is null or other.expires_at > clock_timestamp())
          ) others
          where id = ${secretId}`.pipe(found.decode, firstOr(SecretNotFound, { secretId }))
      return { secret, isActive, activeOthers }
    }),

    findByText: (secret) =>
      sql`select ${summaries.columns} from signing_secrets secret where hash = ${hashed(secret)} limit 1`.pipe(
        summaries.decode,
        first,
      ),

    revoke: (secretId) =>
      sql`
          with endpoint as materialized (
            -- Locked before its secret, in the same order as in every other statement.
            select from webhook_endpoints where id = (select endpoint_id from signing_secrets where id = ${secretId}) for no key update
          )
          update signing_secrets secret set expires_at = least(expires_at, clock_timestamp())
          where id = ${secretId} and (select count(*) from endpoint) >= 0 returning ${summaries.columns}`.pipe(
        summaries.decode,
        firstOr(SecretNotFound, { secretId }),
        Effect.tap(hints.give("endpoints")),
      ),
  }
})

/**
 * Creates the query of the active signing secrets of endpoints: their own, and those of their organizations until `shared_secrets_until`; at
 * most `MAX_ACTIVE_SECRETS` for each endpoint. `rank` is their order: an endpoint's own first, then the newest. `ends_at` is null for no end.
 */
const activeSecretsOf = (sql: SqlClient.SqlClient, endpointIds: ReadonlyArray<EndpointId>) => sql`
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

/** Decrypts a secret; logs it and returns undefined if that is impossible. */
export const openSecret = <A>(
  open: () => A,
  name: string,
  organizationId: OrganizationId,
): Effect.Effect<A | undefined> =>
  Effect.try(open).pipe(
    Effect.tapError(() =>
      Effect.logError(`${name} cannot be decrypted; check that SECRETS_KEY contains its key`, { organizationId }),
    ),
    Effect.orElseSucceed(() => undefined),
  )

/** Reads and decrypts the active secrets of endpoints. */
export const readActiveSecrets = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  cipher: SecretCipher["Service"],
  endpointIds: ReadonlyArray<EndpointId>,
) {
  const found = new Map<EndpointId, ReadonlyArray<SigningSecret>>()
  if (endpointIds.length === 0) return found
  const rows = yield* sql`
    select ${active.columns} from (${activeSecretsOf(sql, endpointIds)}) secret
    group by organization_id, id, ciphertext, ends_at order by min(rank), id desc`.pipe(active.decode)
  // An unreadable secret of one organization must not block the deliveries of the other organizations.
  const unsigned = new Set<EndpointId>()
  for (const { organizationId, ciphertext, endsInMs, endpoints } of rows) {
    const secret = yield* openSecret(() => cipher.decrypt(ciphertext, organizationId), "signing secret", organizationId)
    for (const endpoint of endpoints) {
      if (secret === undefined) unsigned.add(endpoint)
      else found.set(endpoint, [...(found.get(endpoint) ?? []), { secret, endsInMs }])
    }
  }
  for (const endpoint of unsigned) found.delete(endpoint)
  return found
})
