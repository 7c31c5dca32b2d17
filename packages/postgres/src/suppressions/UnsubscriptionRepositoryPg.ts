import {
  Unsubscription,
  UnsubscriptionChoice,
  UnsubscriptionRepository,
} from "@outreach/domain/suppressions/Unsubscriptions"
import { Effect } from "effect"
import { adapter } from "../adapter.ts"
import { countFeedback } from "../campaigns/campaignChanges.ts"
import { Hints } from "../events/Hints.ts"
import { decodeCount, first, rowsOf } from "../rowsOf.ts"

const unsubscriptions = rowsOf(Unsubscription, {
  scope: "case when from_organization then 'organization' else 'program' end",
})
const choices = rowsOf(UnsubscriptionChoice, {
  organizationName: "organization.name",
  programName: "program.name",
  email: "case when erased_at is null then email end",
  unsubscribedFrom: `case when erased_at is not null or asked_at is null or revoked_at is not null then null
    when from_organization then 'organization' else 'program' end`,
})

export const UnsubscriptionRepositoryPg = adapter(UnsubscriptionRepository, function* (sql) {
  const hints = yield* Hints
  return {
    findChoice: ({ organizationId, recipientId }) =>
      sql`
          select ${choices.columns} from recipients recipient
          left join unsubscriptions unsubscription
            on unsubscription.organization_id = recipient.organization_id and unsubscription.recipient_id = recipient.id
          join organizations organization on organization.id = recipient.organization_id
          join programs program on program.organization_id = recipient.organization_id and program.id = recipient.program_id
          where recipient.organization_id = ${organizationId} and recipient.id = ${recipientId}`.pipe(
        choices.decode,
        first,
      ),

    // An erased recipient is already suppressed by a keyed hash. The key share lock serializes this with an erasure.
    ask: ({ organizationId, recipientId }, scope = "organization") =>
      sql`
          with recipient as (
            select organization_id, campaign_id, id, erased_at from recipients where organization_id = ${organizationId} and id = ${recipientId}
            for key share
          ), requested as (
            insert into unsubscriptions (organization_id, campaign_id, recipient_id, from_organization)
            select organization_id, campaign_id, id, ${scope === "organization"}::boolean from recipient where erased_at is null
            on conflict (organization_id, recipient_id) do update set asked_at = excluded.asked_at, suppressed_at = null,
              from_organization = unsubscriptions.from_organization or excluded.from_organization,
              repeats = case when unsubscriptions.revoked_at is null then unsubscriptions.repeats + 1 else 0 end,
              revoked_at = null, lifted_at = null
            returning organization_id, recipient_id, asked_at as at, repeats
          ), counted as (${countFeedback("unsubscribed", 1, "select * from requested where repeats = 0")}
          )
          select from recipient`.pipe(
        Effect.map((rows) => rows.length > 0),
        Effect.tap(hints.give("suppressions", organizationId)),
      ),

    revoke: ({ organizationId, recipientId }) =>
      sql`
          with revoked as (
            update unsubscriptions set revoked_at = clock_timestamp(), lifted_at = null
            where organization_id = ${organizationId} and recipient_id = ${recipientId} and revoked_at is null
            returning organization_id, recipient_id, revoked_at as at
          ), counted as (${countFeedback("unsubscribed", -1, "select * from revoked")}
          )
          select from recipients where organization_id = ${organizationId} and id = ${recipientId}`.pipe(
        Effect.map((rows) => rows.length > 0),
        Effect.tap(hints.give("suppressions", organizationId)),
      ),

    lift: (limit) => sql`select lift_unsubscriptions(${limit}::int) as count`.pipe(decodeCount),

    waiting: (limit) =>
      sql`
          select ${unsubscriptions.columns} from unsubscriptions
          join recipients recipient using (organization_id)
          join organizations organization on organization.id = organization_id
          where recipient.id = recipient_id and erased_at is null and revoked_at is null and suppressed_at is null
          order by asked_at limit ${limit}`.pipe(unsubscriptions.decode),

    settle: ({ organizationId, recipientId, askedAt }) =>
      sql`
          update unsubscriptions set suppressed_at = clock_timestamp(), lifted_at = null
          where organization_id = ${organizationId} and recipient_id = ${recipientId} and asked_at = ${askedAt}::timestamptz`,
  }
})
