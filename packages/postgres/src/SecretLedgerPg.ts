import { SecretLedger, type SecretSummary } from "@outreach/domain/deliveries/SecretLedger"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { dieNaming } from "./DatabaseFailure.ts"

/** Reads what PostgreSQL knows of the signing secrets beside themselves. */
export const SecretLedgerPg = Layer.effect(
  SecretLedger,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return {
      list: Effect.fn("SecretLedger.list")(
        (organizationId) => sql<SecretSummary>`
          select organization_id as "organizationId", id, created_at as "createdAt", expires_at as "expiresAt",
            last_used_at as "lastUsedAt"
          from signing_secrets where organization_id = ${organizationId} order by id desc`,
        dieNaming("SecretLedger.list"),
      ),
    }
  }),
)
