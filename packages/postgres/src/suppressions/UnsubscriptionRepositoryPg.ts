import { type Unsubscription, UnsubscriptionRepository } from "@outreach/domain/suppressions/UnsubscriptionRepository"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"

/** Keeps unsubscriptions in PostgreSQL. */
export const UnsubscriptionRepositoryPg = Layer.effect(
  UnsubscriptionRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    return {
      ask: ({ organizationId, recipientId }) =>
        // An erased recipient is suppressed already, by a keyed hash. An erasure waits for this, or this for the erasure.
        sql`
          with recipient as (
            select organization_id, id, erased_at from recipients where organization_id = ${organizationId} and id = ${recipientId}
            for key share
          ), asked as (
            insert into unsubscriptions (organization_id, recipient_id)
            select organization_id, id from recipient where erased_at is null
            on conflict (organization_id, recipient_id) do update set asked_at = excluded.asked_at, suppressed_at = null
          )
          select from recipient`.pipe(
          Effect.map((rows) => rows.length > 0),
          orDieAs("UnsubscriptionRepository.ask"),
        ),

      waiting: (limit) =>
        sql<Unsubscription>`
          select organization_id as "organizationId", recipient_id as "recipientId", program_id as "programId", npi, email,
            asked_at as "askedAt"
          from unsubscriptions
          join recipients recipient using (organization_id)
          join organizations organization on organization.id = organization_id and frozen_at is null
          where recipient.id = recipient_id and suppressed_at is null and erased_at is null
          order by asked_at limit ${limit}`.pipe(orDieAs("UnsubscriptionRepository.waiting")),

      settle: ({ organizationId, recipientId, askedAt }) =>
        sql`
          update unsubscriptions set suppressed_at = clock_timestamp()
          where organization_id = ${organizationId} and recipient_id = ${recipientId} and asked_at = ${askedAt}::timestamptz`.pipe(
          Effect.asVoid,
          orDieAs("UnsubscriptionRepository.settle"),
        ),
    }
  }),
)
