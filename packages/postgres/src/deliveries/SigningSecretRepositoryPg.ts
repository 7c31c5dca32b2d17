import {
  MAX_ACTIVE_SECRETS,
  SecretNotFound,
  SecretSummary,
  SecretVerification,
  SigningSecretRepository,
} from "@outreach/domain/deliveries/SigningSecretRepository"
import { OrganizationId, SecretId } from "@outreach/domain/Identifier"
import { OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { adapter } from "../adapter.ts"
import { Hints } from "../events/Hints.ts"
import { decodeColumn, decodeRows, firstOr, rowsOf } from "../rowsOf.ts"
import { SecretCipher } from "./SecretCipher.ts"

const summaries = rowsOf(SecretSummary, {
  lastVerifiedAt: `(
    select max(verified_at) from secret_verifications verified
    where verified.organization_id = secret.organization_id and verified.secret_id = secret.id)`,
})
const verifications = rowsOf(SecretVerification)
const decodeFound = decodeRows({ ...SecretSummary.fields, isActive: Schema.Boolean, activeOthers: Schema.Int })
const decodeCiphertexts = decodeColumn({ ciphertext: Schema.Uint8Array })
const decodeOwner = decodeRows({
  organizationId: OrganizationId,
  id: Schema.NullOr(SecretId),
  ciphertext: Schema.NullOr(Schema.Uint8Array),
  expiresAt: Schema.NullOr(Schema.Number),
})

/** Keeps signing secrets in PostgreSQL, encrypted. */
export const SigningSecretRepositoryPg = adapter(
  SigningSecretRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const cipher = yield* SecretCipher
    const hints = yield* Hints

    return {
      rotate: Effect.fnUntraced(function* (organizationId, secret, graceSeconds) {
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
      }),

      active: Effect.fnUntraced(function* (organizationId) {
        const rows = yield* sql`
          select ciphertext from signing_secrets
          where organization_id = ${organizationId} and (expires_at is null or expires_at > clock_timestamp())
          order by id desc`.pipe(decodeCiphertexts)
        return rows.map((ciphertext) => cipher.decrypt(ciphertext, organizationId))
      }),

      ofEndpoint: Effect.fnUntraced(function* (endpointId) {
        const rows = yield* sql`
          select endpoint.organization_id as "organizationId", secret.id, ciphertext,
            extract(epoch from expires_at)::double precision * 1000 as "expiresAt"
          from webhook_endpoints endpoint
          left join signing_secrets secret on secret.organization_id = endpoint.organization_id
            and (secret.expires_at is null or secret.expires_at > clock_timestamp())
          where endpoint.id = ${endpointId} order by secret.id desc`.pipe(decodeOwner)
        const organizationId = rows[0]?.organizationId
        if (organizationId === undefined) return undefined
        const secrets = rows.flatMap(({ id, ciphertext, expiresAt }) =>
          id === null || ciphertext === null
            ? []
            : [{ id, secret: cipher.decrypt(ciphertext, organizationId), expiresAt }],
        )
        return { organizationId, secrets }
      }),

      list: (organizationId) =>
        sql`select ${summaries.columns} from signing_secrets secret where organization_id = ${organizationId} order by id desc`.pipe(
          summaries.decode,
        ),

      verifications: (organizationId) =>
        sql`
          select ${verifications.columns} from secret_verifications
          where organization_id = ${organizationId} order by verified_at desc`.pipe(verifications.decode),

      find: Effect.fnUntraced(function* (secretId) {
        const { isActive, activeOthers, ...secret } = yield* sql`
          select ${summaries.columns}, (expires_at is null or expires_at > clock_timestamp()) as "isActive",
            (select count(*)::int from signing_secrets other
              where other.organization_id = secret.organization_id and other.id <> secret.id
                and (other.expires_at is null or other.expires_at > clock_timestamp())) as "activeOthers"
          from signing_secrets secret where id = ${secretId}`.pipe(decodeFound, firstOr(SecretNotFound, { secretId }))
        return { secret, isActive, activeOthers }
      }),

      revoke: (secretId) =>
        sql`
          update signing_secrets secret set expires_at = least(expires_at, clock_timestamp())
          where id = ${secretId} returning ${summaries.columns}`.pipe(
          summaries.decode,
          firstOr(SecretNotFound, { secretId }),
          Effect.tap(hints.give("endpoints")),
        ),
    }
  }),
)
