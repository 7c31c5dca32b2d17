import {
  MAX_ACTIVE_SECRETS,
  SecretNotFound,
  type SecretSummary,
  type SecretVerification,
  SigningSecretRepository,
} from "@outreach/domain/deliveries/SigningSecretRepository"
import type { OrganizationId, SecretId } from "@outreach/domain/Identifier"
import { OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"
import { Hints } from "../events/Hints.ts"
import { SecretCipher } from "./SecretCipher.ts"

/** Keeps signing secrets in PostgreSQL, encrypted. */
export const SigningSecretRepositoryPg = Layer.effect(
  SigningSecretRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const cipher = yield* SecretCipher
    const hints = yield* Hints
    const columns = sql.literal(`
      secret.organization_id as "organizationId", secret.id, secret.created_at as "createdAt", secret.expires_at as "expiresAt",
      secret.last_used_at as "lastUsedAt",
      (select max(verified_at) from secret_verifications verified
        where verified.organization_id = secret.organization_id and verified.secret_id = secret.id) as "lastVerifiedAt"`)

    return {
      rotate: Effect.fn("SigningSecretRepository.rotate")(
        function* (organizationId, secret, graceSeconds) {
          // The lock puts two rotations one after the other, so that neither overlooks the other's secret.
          const found = yield* sql`select from organizations where id = ${organizationId} for no key update`
          if (found.length === 0) return yield* new OrganizationNotFound({ organizationId })
          yield* sql`
            update signing_secrets
            set expires_at = least(expires_at, clock_timestamp() + make_interval(secs => ${graceSeconds}::double precision))
            where organization_id = ${organizationId}`
          const ended = yield* sql`
            update signing_secrets set expires_at = clock_timestamp()
            where organization_id = ${organizationId} and id in (
              select id from signing_secrets
              where organization_id = ${organizationId} and (expires_at is null or expires_at > clock_timestamp())
              -- Ids of one millisecond are in no order.
              order by created_at desc, id desc offset ${MAX_ACTIVE_SECRETS - 1}
            )
            returning id`
          yield* sql`
            insert into signing_secrets (organization_id, ciphertext)
            values (${organizationId}, ${cipher.encrypt(secret, organizationId)})`
          yield* hints.give("endpoints")
          return ended.length
        },
        sql.withTransaction,
        orDieAs("SigningSecretRepository.rotate"),
      ),

      active: Effect.fnUntraced(function* (organizationId) {
        const rows = yield* sql<{ ciphertext: Uint8Array }>`
          select ciphertext from signing_secrets
          where organization_id = ${organizationId} and (expires_at is null or expires_at > clock_timestamp())
          order by id desc`
        return rows.map((row) => cipher.decrypt(row.ciphertext, organizationId))
      }, orDieAs("SigningSecretRepository.active")),

      ofEndpoint: Effect.fnUntraced(function* (endpointId) {
        const rows = yield* sql<{
          organizationId: OrganizationId
          id: SecretId | null
          ciphertext: Uint8Array | null
          expiresAt: number | null
        }>`
          select endpoint.organization_id as "organizationId", secret.id, ciphertext,
            extract(epoch from expires_at)::double precision * 1000 as "expiresAt"
          from webhook_endpoints endpoint
          left join signing_secrets secret on secret.organization_id = endpoint.organization_id
            and (secret.expires_at is null or secret.expires_at > clock_timestamp())
          where endpoint.id = ${endpointId} order by secret.id desc`
        const organizationId = rows[0]?.organizationId
        if (organizationId === undefined) return undefined
        const secrets = rows.flatMap(({ id, ciphertext, expiresAt }) =>
          id === null || ciphertext === null
            ? []
            : [{ id, secret: cipher.decrypt(ciphertext, organizationId), expiresAt }],
        )
        return { organizationId, secrets }
      }, orDieAs("SigningSecretRepository.ofEndpoint")),

      list: Effect.fn("SigningSecretRepository.list")(
        (organizationId) => sql<SecretSummary>`
          select ${columns} from signing_secrets secret where organization_id = ${organizationId} order by id desc`,
        orDieAs("SigningSecretRepository.list"),
      ),

      verifications: Effect.fn("SigningSecretRepository.verifications")(
        (organizationId) => sql<SecretVerification>`
          select organization_id as "organizationId", secret_id as "secretId", endpoint_id as "endpointId", verified_at as "verifiedAt"
          from secret_verifications where organization_id = ${organizationId} order by verified_at desc`,
        orDieAs("SigningSecretRepository.verifications"),
      ),

      find: Effect.fn("SigningSecretRepository.find")(function* (secretId) {
        const rows = yield* sql<SecretSummary & { isActive: boolean; activeOthers: number }>`
          select ${columns}, (expires_at is null or expires_at > clock_timestamp()) as "isActive",
            (select count(*)::int from signing_secrets other
              where other.organization_id = secret.organization_id and other.id <> secret.id
                and (other.expires_at is null or other.expires_at > clock_timestamp())) as "activeOthers"
          from signing_secrets secret where id = ${secretId}`
        const { isActive, activeOthers, ...secret } = rows[0] ?? (yield* new SecretNotFound({ secretId }))
        return { secret, isActive, activeOthers }
      }, orDieAs("SigningSecretRepository.find")),

      revoke: Effect.fn("SigningSecretRepository.revoke")(function* (secretId) {
        const rows = yield* sql<SecretSummary>`
          update signing_secrets secret set expires_at = least(expires_at, clock_timestamp())
          where id = ${secretId} returning ${columns}`
        const revoked = rows[0] ?? (yield* new SecretNotFound({ secretId }))
        yield* hints.give("endpoints")
        return revoked
      }, orDieAs("SigningSecretRepository.revoke")),
    }
  }),
)
