import { SecretLedger, SecretNotFound, type SecretSummary } from "@outreach/domain/deliveries/SecretLedger"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"

/** Reads what PostgreSQL knows of the signing secrets beside themselves. */
export const SecretLedgerPg = Layer.effect(
  SecretLedger,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(`
      secret.organization_id as "organizationId", secret.id, secret.created_at as "createdAt", secret.expires_at as "expiresAt",
      secret.last_used_at as "lastUsedAt"`)
    return {
      list: Effect.fn("SecretLedger.list")(
        (organizationId) => sql<SecretSummary>`
          select ${columns} from signing_secrets secret where organization_id = ${organizationId} order by id desc`,
        orDieAs("SecretLedger.list"),
      ),

      find: Effect.fn("SecretLedger.find")(function* (secretId) {
        const rows = yield* sql<SecretSummary & { isActive: boolean; activeOthers: number }>`
          select ${columns}, (expires_at is null or expires_at > clock_timestamp()) as "isActive",
            (select count(*)::int from signing_secrets other
              where other.organization_id = secret.organization_id and other.id <> secret.id
                and (other.expires_at is null or other.expires_at > clock_timestamp())) as "activeOthers"
          from signing_secrets secret where id = ${secretId}`
        const { isActive, activeOthers, ...secret } = rows[0] ?? (yield* new SecretNotFound({ secretId }))
        return { secret, isActive, activeOthers }
      }, orDieAs("SecretLedger.find")),

      revoke: Effect.fn("SecretLedger.revoke")(function* (secretId) {
        const rows = yield* sql<SecretSummary>`
          update signing_secrets secret set expires_at = least(expires_at, clock_timestamp())
          where id = ${secretId} returning ${columns}`
        return rows[0] ?? (yield* new SecretNotFound({ secretId }))
      }, orDieAs("SecretLedger.revoke")),
    }
  }),
)
