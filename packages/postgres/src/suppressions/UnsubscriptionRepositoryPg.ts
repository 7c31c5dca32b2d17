import {
  type Unsubscription,
  type UnsubscriptionChoice,
  UnsubscriptionRepository,
} from "@outreach/domain/suppressions/UnsubscriptionRepository"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"

/** Keeps unsubscriptions in PostgreSQL. */
export const UnsubscriptionRepositoryPg = Layer.effect(
  UnsubscriptionRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    return {
      findChoice: ({ organizationId, recipientId }) =>
        sql<UnsubscriptionChoice>`
          select organization.name as "organizationName", sender_name as "senderName", program.name as "programName",
            case when erased_at is null then email end as email,
            case when erased_at is not null or asked_at is null or revoked_at is not null then null
              when from_organization then 'organization' else 'program' end as "unsubscribedFrom"
          from recipients recipient
          left join unsubscriptions unsubscription
            on unsubscription.organization_id = recipient.organization_id and unsubscription.recipient_id = recipient.id
          join organizations organization on organization.id = recipient.organization_id
          join programs program on program.organization_id = recipient.organization_id and program.id = recipient.program_id
          where recipient.organization_id = ${organizationId} and recipient.id = ${recipientId}`.pipe(
          Effect.map((rows) => rows[0]),
          orDieAs("UnsubscriptionRepository.findChoice"),
        ),

      ask: ({ organizationId, recipientId }, scope = "organization") =>
        // An erased recipient is suppressed already, by a keyed hash. An erasure waits for this, or this for the erasure.
        sql`
          with recipient as (
            select organization_id, id, erased_at from recipients where organization_id = ${organizationId} and id = ${recipientId}
            for key share
          ), asked as (
            insert into unsubscriptions (organization_id, recipient_id, from_organization)
            select organization_id, id, ${scope === "organization"}::boolean from recipient where erased_at is null
            on conflict (organization_id, recipient_id) do update set asked_at = excluded.asked_at, suppressed_at = null,
              from_organization = unsubscriptions.from_organization or excluded.from_organization,
              revoked_at = null, lifted_at = null
          )
          select from recipient`.pipe(
          Effect.map((rows) => rows.length > 0),
          orDieAs("UnsubscriptionRepository.ask"),
        ),

      revoke: ({ organizationId, recipientId }) =>
        sql`
          with revoked as (
            update unsubscriptions set revoked_at = clock_timestamp(), lifted_at = null
            where organization_id = ${organizationId} and recipient_id = ${recipientId} and revoked_at is null
          )
          select from recipients where organization_id = ${organizationId} and id = ${recipientId}`.pipe(
          Effect.map((rows) => rows.length > 0),
          orDieAs("UnsubscriptionRepository.revoke"),
        ),

      lift: (limit) =>
        sql<{ lifted: number }>`select lift_unsubscriptions(${limit}::int) as lifted`.pipe(
          Effect.map((rows) => rows[0]!.lifted),
          orDieAs("UnsubscriptionRepository.lift"),
        ),

      waiting: (limit) =>
        sql<Unsubscription>`
          select organization_id as "organizationId", recipient_id as "recipientId", program_id as "programId", npi, email,
            asked_at as "askedAt", case when from_organization then 'organization' else 'program' end as scope
          from unsubscriptions
          join recipients recipient using (organization_id)
          join organizations organization on organization.id = organization_id and frozen_at is null
          where recipient.id = recipient_id and erased_at is null and revoked_at is null and suppressed_at is null
          order by asked_at limit ${limit}`.pipe(orDieAs("UnsubscriptionRepository.waiting")),

      settle: ({ organizationId, recipientId, askedAt }) =>
        sql`
          update unsubscriptions set suppressed_at = clock_timestamp(), lifted_at = null
          where organization_id = ${organizationId} and recipient_id = ${recipientId} and asked_at = ${askedAt}::timestamptz`.pipe(
          Effect.asVoid,
          orDieAs("UnsubscriptionRepository.settle"),
        ),
    }
  }),
)
