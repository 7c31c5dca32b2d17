import type { CampaignKey } from "@outreach/domain/campaigns/Campaign"
import { Recipient } from "@outreach/domain/recipients/Recipient"
import { Timestamp } from "@outreach/domain/Timestamp"
import { DatabaseService } from "@outreach/postgres/adapter"
import { withoutTimeLimit } from "@outreach/postgres/erasure/createSubjectFinder"
import { decodeRows } from "@outreach/postgres/rowsOf"
import { Effect, Schema, Stream } from "effect"

const time = Schema.NullOr(Timestamp)
const date = Schema.NullOr(Schema.String)

/** What became of a recipient in its campaign. */
const RecipientOutcome = Schema.Struct({
  token: Schema.String,
  /** Null once the recipient was erased, as is the address. */
  npi: Schema.NullOr(Recipient.fields.npi),
  email: Schema.NullOr(Recipient.fields.email),
  state: Schema.Literals([
    ...(["imported", "published", "deferred", "unknown", "quarantined", "sent"] as const),
    ...(["bounced", "refused_later", "withdrawn", "erased"] as const),
  ]),
  withdrawalReason: Schema.NullOr(Schema.String),
  sentAt: time,
  bouncedAt: time,
  bounceReason: Schema.NullOr(Schema.String),
  /** The last reply of a mail server, for as long as attempts are kept. */
  lastReply: Schema.NullOr(Schema.String),
  /** A report refused the message that a server had accepted, without a hard bounce. */
  refusedLaterAt: time,
  refusalCause: Schema.NullOr(Schema.String),
  /** The dates of the first open and the first click: of any, and of those that no robot is suspected of. */
  openedOn: date,
  unsuspectedOpenedOn: date,
  clickedOn: date,
  unsuspectedClickedOn: date,
  complainedAt: time,
  unsubscribedAt: time,
  /** How far the clinician came in the program after the e-mail was sent. */
  accountCreatedAt: time,
  learnerQualifiedAt: time,
  completerQualifiedAt: time,
})
export type RecipientOutcome = typeof RecipientOutcome.Type

export const OUTCOME_COLUMNS = Object.keys(RecipientOutcome.fields) as ReadonlyArray<keyof RecipientOutcome>

const decodeOutcomes = decodeRows(RecipientOutcome.fields)

/** Reads what became of each recipient of a campaign. */
export class OutcomeReader extends DatabaseService<OutcomeReader>()("backoffice/recipients/OutcomeReader", (sql) => ({
  /** Gives the outcomes of all recipients in batches to `use`: one statement reads them, so all are as of one moment, and only a batch is held. */
  forEachBatch: (
    { organizationId, campaignId }: CampaignKey,
    use: (outcomes: ReadonlyArray<RecipientOutcome>) => Effect.Effect<void, Error>,
  ) =>
    withoutTimeLimit(sql)(
      sql<object>`
      select recipient.token, case when erased_at is null then recipient.npi end as npi, case when erased_at is null then email end as email,
        case when erased_at is not null then 'erased' when withdrawn_at is not null then 'withdrawn' when bounced_at is not null then 'bounced'
          when refused_at is not null then 'refused_later' when sent_at is not null then 'sent'
          when message.quarantined_at is not null then 'quarantined' when message.unknown_outcomes > 0 then 'unknown'
          when message.attempts > 0 then 'deferred' when published_at is not null then 'published' else 'imported' end as state,
        withdrawal_reason as "withdrawalReason", sent_at as "sentAt", bounced_at as "bouncedAt", case when bounced_at is not null then (
          select body::jsonb->'data'->>'bounce_reason' from events
          where organization_id = recipient.organization_id and recipient_id = recipient.id and type = 'outreach.email_bounced' limit 1
        ) end as "bounceReason", (
          select reply from message_attempts attempt
          where attempt.organization_id = recipient.organization_id and attempt.recipient_id = recipient.id order by last_at desc limit 1
        ) as "lastReply", refused_at as "refusedLaterAt", cause as "refusalCause",
        opened_on::text as "openedOn", unsuspected_opened_on::text as "unsuspectedOpenedOn", clicked_on::text as "clickedOn",
        unsuspected_clicked_on::text as "unsuspectedClickedOn", reported_at as "complainedAt",
        case when revoked_at is null then asked_at end as "unsubscribedAt", qualification.*
      from recipients recipient
      left join messages message on message.organization_id = recipient.organization_id and message.recipient_id = recipient.id
      left join late_refusals refusal on refusal.organization_id = recipient.organization_id
        and refusal.campaign_id = recipient.campaign_id and refusal.recipient_id = recipient.id
      left join complaints complaint on complaint.organization_id = recipient.organization_id
        and complaint.campaign_id = recipient.campaign_id and complaint.recipient_id = recipient.id
      left join unsubscriptions unsubscription
        on unsubscription.organization_id = recipient.organization_id and unsubscription.recipient_id = recipient.id
      cross join lateral (
        select min(counted_at) filter (where stage = 'account_created') as "accountCreatedAt",
          min(counted_at) filter (where stage = 'learner_qualified') as "learnerQualifiedAt",
          min(counted_at) filter (where stage = 'completer_qualified') as "completerQualifiedAt"
        from qualifications
        where organization_id = recipient.organization_id and program_id = recipient.program_id and npi = recipient.npi
          and stage in ('account_created', 'learner_qualified', 'completer_qualified') and counted_at >= sent_at
      ) qualification
      where recipient.organization_id = ${organizationId} and recipient.campaign_id = ${campaignId}
      order by recipient.updated_at, recipient.id`.stream.pipe(
        Stream.runForEachArray((rows) => Effect.flatMap(decodeOutcomes(Effect.succeed(rows)), use)),
      ),
    ),
})) {}
