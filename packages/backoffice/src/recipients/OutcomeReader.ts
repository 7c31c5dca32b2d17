import type { CampaignKey } from "@outreach/domain/campaigns/Campaign"
import { RecipientId } from "@outreach/domain/Identifier"
import { Recipient } from "@outreach/domain/recipients/Recipient"
import { Timestamp } from "@outreach/domain/Timestamp"
import { reader } from "@outreach/postgres/adapter"
import { withoutTimeLimit } from "@outreach/postgres/erasure/createSubjectFinder"
import { columnOf, decodeRows, keyset, rowsOf } from "@outreach/postgres/rowsOf"
import { Effect, Record, Schema, Stream } from "effect"
import type { Statement } from "effect/sql"
import type { CampaignTotals } from "../campaigns/CampaignReader.ts"
import type { Direction } from "../operations/List.ts"
import type { TaggedFailure } from "../operations/Operation.ts"

const time = Schema.NullOr(Timestamp)
const date = Schema.NullOr(Schema.String)
/** The dates of the first open and the first click: of all, and of those that aren't suspected bots. */
const firstHits = { openedOn: date, unsuspectedOpenedOn: date, clickedOn: date, unsuspectedClickedOn: date }
/** The clinician's stage in the program after the e-mail. */
const stages = { accountCreatedAt: time, learnerQualifiedAt: time, completerQualifiedAt: time }

/** A recipient's outcome in its campaign. */
const RecipientOutcome = Schema.Struct({
  token: Schema.String,
  /** Null after the recipient was erased, like the address. */
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
  /** The last reply of a mail server, while attempts are stored. */
  lastReply: Schema.NullOr(Schema.String),
  /** The message was accepted and refused later, without a hard bounce. */
  refusedLaterAt: time,
  refusalCause: Schema.NullOr(Schema.String),
  ...firstHits,
  complainedAt: time,
  unsubscribedAt: time,
  ...stages,
})
export type RecipientOutcome = typeof RecipientOutcome.Type

export const OUTCOME_COLUMNS = Object.keys(RecipientOutcome.fields) as ReadonlyArray<keyof RecipientOutcome>

/** The last reply of a mail server to a `recipient`. */
export const LAST_REPLY = `(
  select reply from message_attempts attempt
  where attempt.organization_id = recipient.organization_id and attempt.recipient_id = recipient.id order by last_at desc limit 1)`

const OUTCOME = {
  token: "recipient.token",
  npi: "case when erased_at is null then recipient.npi end",
  email: "case when erased_at is null then email end",
  state: `case when erased_at is not null then 'erased' when withdrawn_at is not null then 'withdrawn' when bounced_at is not null then 'bounced'
    when refusal.refused_at is not null then 'refused_later' when sent_at is not null then 'sent'
    when message.quarantined_at is not null then 'quarantined' when message.unknown_outcomes > 0 then 'unknown'
    when message.attempts > 0 then 'deferred' when published_at is not null then 'published' else 'imported' end`,
  bounceReason: `case when bounced_at is not null then (
    select body::jsonb->'data'->>'bounce_reason' from events
    where organization_id = recipient.organization_id and recipient_id = recipient.id and type = 'outreach.email_bounced' limit 1) end`,
  lastReply: LAST_REPLY,
  refusedLaterAt: "refusal.refused_at",
  refusalCause: "cause",
  ...Record.map(firstHits, (_, name) => `${columnOf(name)}::text`),
  complainedAt: "complaint.reported_at",
  unsubscribedAt: "case when revoked_at is null then unsubscription.asked_at end",
  ...Record.map(stages, (_, name) => `qualification.${columnOf(name)}`),
}
const outcomes = rowsOf(RecipientOutcome, OUTCOME)

/** A recipient of a list, with the time of the list's outcome, or of the last change if that time isn't stored. */
const ListedRecipient = Schema.Struct({ ...RecipientOutcome.fields, id: RecipientId, at: Timestamp })
export type ListedRecipient = typeof ListedRecipient.Type
export type RecipientCursor = Pick<ListedRecipient, "at" | "id">

const listed = rowsOf(ListedRecipient, { ...OUTCOME, id: "recipient.id", at: "chosen.at" })
const decodeCursors = decodeRows({ at: Timestamp, id: RecipientId })

interface RecipientList {
  readonly label: string
  /** The campaign's total of the list's rows. */
  readonly total: keyof CampaignTotals
  /** Default recipients. Each table has an index of a campaign's rows by this time. */
  readonly table?: string
  readonly at?: string
  /** Default: every row. */
  readonly condition?: string
}

const cameTo = (stage: string) => `exists (
  select from qualifications where organization_id = listed.organization_id and program_id = listed.program_id
    and stage = '${stage}' and npi = listed.npi and counted_at >= sent_at)`

/** The lists of a campaign's recipients by outcome. Opened and clicked exclude recipients with only suspected bots. */
export const RECIPIENT_LISTS = {
  imported: { label: "Imported", total: "recipients" },
  published: { label: "Published", total: "published", condition: "published_at is not null" },
  sent: { label: "Sent", total: "sent", condition: "sent_at is not null" },
  bounced: { label: "Bounced", total: "bounced", at: "bounced_at", condition: "bounced_at is not null" },
  refused_later: {
    ...({ label: "Rejected later", total: "refusedLater", table: "late_refusals", at: "refused_at" } as const),
    condition: `not exists (
      select from recipients where organization_id = listed.organization_id and id = recipient_id and bounced_at is not null)`,
  },
  opened: { label: "Opened", total: "unsuspectedOpened", condition: "unsuspected_opened_on is not null" },
  opened_with_bots: { label: "Opened, with suspected bots", total: "opened", condition: "opened_on is not null" },
  clicked: { label: "Clicked", total: "unsuspectedClicked", condition: "unsuspected_clicked_on is not null" },
  clicked_with_bots: { label: "Clicked, with suspected bots", total: "clicked", condition: "clicked_on is not null" },
  account_created: { label: "Account created", total: "accounts", condition: cameTo("account_created") },
  learner_qualified: { label: "Learner", total: "learners", condition: cameTo("learner_qualified") },
  completer_qualified: { label: "Completer", total: "completers", condition: cameTo("completer_qualified") },
  complained: { label: "Complained", total: "complained", table: "complaints", at: "reported_at" },
  unsubscribed: {
    label: "Unsubscribed",
    total: "unsubscribed",
    table: "unsubscriptions",
    at: "asked_at",
    condition: "revoked_at is null",
  },
  quarantined: {
    ...({ label: "Quarantined", total: "quarantined", table: "messages", at: "quarantined_at" } as const),
    condition: "quarantined_at is not null",
  },
  withdrawn: { label: "Withdrawn", total: "withdrawn", at: "withdrawn_at", condition: "withdrawn_at is not null" },
} as const satisfies Readonly<Record<string, RecipientList>>
export type RecipientListName = keyof typeof RECIPIENT_LISTS

/** Number of rows that a page reads. */
export const MAX_LISTED_SCAN = 10_000

/** Reads the outcomes of a campaign's recipients. */
export const OutcomeReader = reader("OutcomeReader", (sql) => {
  /** The tables of the outcomes of `recipient`. */
  const tablesOf = (recipients: Statement.Fragment) => sql`
      ${recipients}
      left join messages message on message.organization_id = recipient.organization_id and message.recipient_id = recipient.id
      left join late_refusals refusal on refusal.organization_id = recipient.organization_id
        and refusal.campaign_id = recipient.campaign_id and refusal.recipient_id = recipient.id
      left join complaints complaint on complaint.organization_id = recipient.organization_id
        and complaint.campaign_id = recipient.campaign_id and complaint.recipient_id = recipient.id
      left join unsubscriptions unsubscription
        on unsubscription.organization_id = recipient.organization_id and unsubscription.recipient_id = recipient.id
      cross join lateral (
        select min(counted_at) filter (where stage = 'account_created') as account_created_at,
          min(counted_at) filter (where stage = 'learner_qualified') as learner_qualified_at,
          min(counted_at) filter (where stage = 'completer_qualified') as completer_qualified_at
        from qualifications
        where organization_id = recipient.organization_id and program_id = recipient.program_id and npi = recipient.npi
          and stage in ('account_created', 'learner_qualified', 'completer_qualified') and counted_at >= sent_at
      ) qualification`

  return {
    /** Passes the outcomes of all recipients to `use` in batches, read by one statement as of one moment. */
    forEachBatch: (
      { organizationId, campaignId }: CampaignKey,
      use: (outcomes: ReadonlyArray<RecipientOutcome>) => Effect.Effect<void, TaggedFailure>,
    ) =>
      withoutTimeLimit(sql)(
        sql<object>`
        select ${outcomes.columns} from ${tablesOf(sql`recipients recipient`)}
        where recipient.organization_id = ${organizationId} and recipient.campaign_id = ${campaignId}
        order by recipient.updated_at, recipient.id`.stream.pipe(
          Stream.runForEachArray((rows) => Effect.flatMap(outcomes.decode(Effect.succeed(rows)), use)),
        ),
      ),

    /**
     * Lists recipients of an outcome, by default newest first, and the row after which the list continues; null at its end. It reads at most
     * `MAX_LISTED_SCAN` rows, so a page of a rare outcome may be short or empty before the end.
     */
    page: Effect.fnUntraced(function* (
      { organizationId, campaignId }: CampaignKey,
      name: RecipientListName,
      limit: number,
      before: RecipientCursor | null,
      direction: Direction = "desc",
    ) {
      const { table = "recipients", at = "updated_at", condition = "true" }: RecipientList = RECIPIENT_LISTS[name]
      const id = table === "recipients" ? "id" : "recipient_id"
      const order = keyset<"at" | "id">({ at, id }, direction)
      const inCampaign = sql`from ${sql(table)} listed where organization_id = ${organizationId} and campaign_id = ${campaignId}
        and ${sql.literal(at)} is not null and ${order.after(before)}`
      const [last] = yield* sql`
        select ${sql.literal(`${at} as at, ${id} as id`)} ${inCampaign}
        order by ${order.order} offset ${MAX_LISTED_SCAN - 1} limit 1`.pipe(decodeCursors)
      const rows = yield* sql`
        with chosen as materialized (
          select organization_id, ${sql.literal(`${id} as recipient_id, ${at} as at`)} ${inCampaign} and ${sql.literal(condition)}
            and ${order.upTo(last)}
          order by ${order.order} limit ${limit + 1}
        )
        select ${listed.columns} from ${tablesOf(
          sql`chosen join recipients recipient on recipient.organization_id = chosen.organization_id and recipient.id = chosen.recipient_id`,
        )}
        order by ${sql.literal(`chosen.at ${direction}, recipient.id ${direction}`)}`.pipe(listed.decode)
      return order.page(rows, limit, last)
    }),
  }
})
