import { OUTGOING_EVENTS } from "@outreach/domain/events/outgoingEvents"
import { CampaignId, type EventId, OrganizationId, ProgramId, RecipientId } from "@outreach/domain/Identifier"
import type { EmailAddress, Npi } from "@outreach/domain/recipients/Clinician"
import { Recipient } from "@outreach/domain/recipients/Recipient"
import { ErasedClinicianRepository } from "@outreach/domain/suppressions/ErasedClinicians"
import { Timestamp } from "@outreach/domain/Timestamp"
import { reader } from "@outreach/postgres/adapter"
import { IN_EVENTS_OF_RECIPIENT } from "@outreach/postgres/events/recipientEvents"
import { decodeRecipients, recipientColumns } from "@outreach/postgres/recipients/RecipientRepositoryPg"
import { decodeColumn, decodeRows, equal, keyset, rowsOf, toTable } from "@outreach/postgres/rowsOf"
import { Effect, Record, Schema, Struct } from "effect"
import type { Statement } from "effect/sql"
import { EventReader } from "../events/EventReader.ts"

/** The kinds of entries; `attempted` is a message that wasn't accepted yet, `received` a partner's event. */
const TIMELINE_KINDS = [
  ...["imported", "published", "attempted", "sent", "refused_later", "bounced", "opened", "clicked", "complained"],
  ...["unsubscribed", "resubscribed", "received", "suppressed", "withdrawn"],
] as const
export type TimelineKind = (typeof TIMELINE_KINDS)[number]

const KINDS: Readonly<Record<string, TimelineKind>> = Record.map(OUTGOING_EVENTS, ({ name }) => name)

const TimelineEntry = Schema.Struct({
  at: Timestamp,
  kind: Schema.Literals(TIMELINE_KINDS),
  organizationId: OrganizationId,
  programId: Schema.NullOr(ProgramId),
  campaignId: Schema.NullOr(CampaignId),
  recipientId: Schema.NullOr(RecipientId),
  /** Its event, outgoing or received. */
  eventId: Schema.NullOr(Schema.String),
  /**
   * A bounce's or withdrawal's reason, the cause of a late refusal, a suppression's kind and reason, a received event's
   * type and state, or the reason of a suspected bot. The mail server's reply follows, if stored.
   */
  detail: Schema.NullOr(Schema.String),
})
export type TimelineEntry = typeof TimelineEntry.Type

/** An entry's position among the clinician's: the time of recording (an event's stamp or the entry's time) and a hash. */
export interface TimelineCursor {
  readonly at: Timestamp
  readonly key: string
}

/** A clinician, by NPI, by e-mail address (ignoring case), or by a recipient's token or id. */
export interface ClinicianKey {
  readonly by: "npi" | "email" | "token" | "id"
  readonly value: string
  /** Default: every organization. */
  readonly organizationId?: OrganizationId
}

/** Maximum number of clinicians of one key: several may share an address, or have the same token in different organizations. */
const MAX_CLINICIANS = 100
/** Maximum number of their records: a clinician has at most one in each campaign. */
const MAX_RECIPIENTS = 500

/** Seconds until the search inside of addresses stops. */
const PART_SECONDS = 3
/** Maximum number of records with a part of an address. */
const MAX_MATCHES = 1000

const matches = rowsOf(Recipient.mapFields(Struct.pick(["organizationId", "id", "npi", "email"])), {
  id: "recipient_id",
})

type Clinician = Pick<Recipient, "organizationId" | "npi">

interface People {
  readonly clinicians: ReadonlyArray<Clinician>
  readonly addresses: ReadonlyArray<{ readonly organizationId: OrganizationId; readonly email: string }>
  readonly recipients: ReadonlyArray<Recipient>
}

const clinicianRows = rowsOf(Recipient.mapFields(Struct.pick(["organizationId", "npi"])))
const decodeOrganizations = decodeColumn({ id: OrganizationId })
const decodeNames = decodeRows({ id: Schema.String, name: Schema.String })
const entryRows = rowsOf(Schema.Struct({ ...TimelineEntry.fields, key: Schema.String, happenedAt: Timestamp }), {
  at: "written_at",
  happenedAt: "at",
})
const newestFirst = keyset({ at: "written_at", key: "key" }, "desc")

/** The states of a received event, each with an index of the clinician's events or few rows. */
const INBOX_CONDITIONS = [
  "applied_at is not null",
  "applied_at is null and quarantined_at is null",
  "quarantined_at is not null",
]

/** Reads the history of one clinician by ranges of indexes, for each organization, campaign or program. */
export const TimelineReader = reader("TimelineReader", function* (sql) {
  const erasures = yield* ErasedClinicianRepository
  const events = yield* EventReader

  const findClinicians = ({ by, value, organizationId }: ClinicianKey) => {
    const found =
      by === "npi"
        ? sql`select ${value} as npi`
        : by === "email"
          ? sql`
            select npi from campaigns campaign cross join lateral (
              select npi from recipient_keys
              where organization_id = campaign.organization_id and campaign_id = campaign.id and email = lower(${value}) limit 1
            ) same
            where campaign.organization_id = organization.organization_id`
          : sql`
            select npi from ${sql(by === "token" ? "recipient_keys" : "recipients")}
            where organization_id = organization.organization_id and ${sql(by)} = ${value} limit 1`
    return sql`
      select distinct ${clinicianRows.columns} from (select id as organization_id from organizations) organization
      cross join lateral (${found}) found
      where ${equal({ organization_id: organizationId })} limit ${by === "npi" ? null : MAX_CLINICIANS}`.pipe(
      clinicianRows.decode,
    )
  }

  const findRecipients = (clinicians: ReadonlyArray<Clinician>, limit: number) =>
    sql`
      select found.* from ${toTable("clinician", clinicians, { organizationId: "text", npi: "text" })}
      join campaigns campaign on campaign.organization_id = clinician.organization_id
      cross join lateral (
        select ${recipientColumns} from recipients
        where organization_id = campaign.organization_id and id = (
          select recipient_id from recipient_keys
          where organization_id = campaign.organization_id and campaign_id = campaign.id and npi = clinician.npi)
        limit 1
      ) found
      order by found.id limit ${limit}`.pipe(decodeRecipients)

  const lastReply = (outcome: "accepted" | "bounced" | "refused") => sql`(
    select reply from attempt
    where attempt.organization_id = recipient.organization_id and attempt.recipient_id = recipient.id and outcome = ${outcome}
    order by last_at desc limit 1)`

  const readEntries = ({ clinicians, addresses, recipients }: People, limit: number, before: TimelineCursor | null) =>
    sql`
      with clinician as materialized (
        select * from ${toTable("clinician", clinicians, { organizationId: "text", npi: "text" })}
      ), identity as materialized (
        select organization_id, 'npi' as kind, npi as value from clinician
        union
        select organization_id, 'email', lower(email) from ${toTable("address", addresses, { organizationId: "text", email: "text" })}
      ), recipient as materialized (
        select recipients.* from ${toTable("known", recipients, { organizationId: "text", id: "text" })}
        join recipients using (organization_id, id)
      ), bound as materialized (
        select coalesce(${before?.at ?? null}::timestamptz, 'infinity') as last
      ), attempt as materialized (
        select attempt.*, recipient.program_id, recipient.campaign_id from recipient
        join message_attempts attempt on attempt.organization_id = recipient.organization_id and attempt.recipient_id = recipient.id
      ), entry as (
        select fact.at as written_at, fact.at, fact.kind, recipient.organization_id, program_id, recipient.campaign_id,
          id as recipient_id, fact.event_id, fact.detail
        from recipient
        left join unsubscriptions unsubscription
          on unsubscription.organization_id = recipient.organization_id and unsubscription.recipient_id = recipient.id
        left join complaints complaint on complaint.organization_id = recipient.organization_id
          and complaint.campaign_id = recipient.campaign_id and complaint.recipient_id = recipient.id
        left join late_refusals refusal on refusal.organization_id = recipient.organization_id
          and refusal.campaign_id = recipient.campaign_id and refusal.recipient_id = recipient.id
        cross join lateral (values
          ('imported', created_at, null, null),
          ('published', published_at, (
            select event.id from events event
            where organization_id = recipient.organization_id and type = 'outreach.recipients_published' and emitted_at = published_at
              and strpos(body, recipient.id) > 0 limit 1
          ), null),
          ('sent', sent_at, (
            select event.id from events event
            where organization_id = recipient.organization_id and type = 'outreach.email_sent' and emitted_at = sent_at
              and recipient_id = recipient.id limit 1
          ), ${lastReply("accepted")}),
          -- A campaign that isn't forwarded to the partner has no event.
          ('bounced', case when bounced_at is not null and not exists (
            select from events
            where organization_id = recipient.organization_id and recipient_id = recipient.id and type = 'outreach.email_bounced'
          ) then bounced_at end, null, ${lastReply("bounced")}),
          ('withdrawn', withdrawn_at, null, withdrawal_reason),
          ('unsubscribed', asked_at, null, null),
          ('resubscribed', revoked_at, null, null),
          ('complained', reported_at, null, feedback_type),
          ('refused_later', refused_at, null, cause || coalesce(': ' || ${lastReply("refused")}, ''))
        ) as fact (kind, at, event_id, detail)
        where fact.at is not null
        union all
        select last_at, last_at, 'attempted', organization_id, program_id, campaign_id, recipient_id, null,
          concat_ws(', ', outcome, case when times > 1 then times || ' times' end) || coalesce(': ' || reply, '')
        from attempt where number > 0 and outcome not in ('accepted', 'bounced')
        union all
        select happened.emitted_at, happened.occurred_at, ${JSON.stringify(KINDS)}::jsonb->>happened.type,
          recipient.organization_id, recipient.program_id, recipient.campaign_id, recipient.id, happened.id,
          coalesce((body::jsonb->'data'->>'bounce_reason') || coalesce(': ' || ${lastReply("bounced")}, ''),
            case when (body::jsonb->'data'->>'is_bot_suspected')::boolean
              then 'bot suspected' || coalesce(': ' || array_to_string(nullif(hit.reasons, '{}'), ', '), '') end)
        from recipient cross join lateral (
          select * from events
          where organization_id = recipient.organization_id and recipient_id = recipient.id
            and ${sql.literal(IN_EVENTS_OF_RECIPIENT)}
            and emitted_at <= (select last from bound)
          order by emitted_at desc limit ${limit}
        ) happened
        left join lateral (
          select reasons from hits
          where organization_id = recipient.organization_id and recipient_id = recipient.id and received_at = happened.occurred_at
            and happened.type = case kind when 'open' then 'outreach.email_opened' else 'outreach.email_clicked' end
          limit 1
        ) hit on true
        union all
        select hit.received_at, hit.received_at, case hit.kind when 'open' then 'opened' else 'clicked' end, recipient.organization_id,
          recipient.program_id, recipient.campaign_id, recipient.id, null, 'bot suspected: ' || array_to_string(nullif(reasons, '{}'), ', ')
        from recipient
        join campaigns campaign on campaign.organization_id = recipient.organization_id and campaign.id = recipient.campaign_id
          and campaign.kind <> 'traffic'
        cross join lateral (
          select * from hits
          where organization_id = recipient.organization_id and recipient_id = recipient.id and judged_at is not null
            and received_at <= (select last from bound)
          order by received_at desc limit ${limit}
        ) hit
        union all
        select found.created_at, found.created_at, 'suppressed', organization_id, program_id, null, null, null, kind || ': ' || reason
        from identity cross join lateral (
          select nullif(program_id, '') as program_id, reason, created_at from suppressions suppression
          where organization_id = identity.organization_id and suppression.kind = identity.kind and suppression.value = identity.value
        ) found
        union all
        select received_at, received_at, 'received', clinician.organization_id, null, null, null, event_id,
          type || ', ' || case when applied_at is not null then 'applied' when quarantined_at is not null then 'set aside: ' || reason
            else 'waiting' end
        from clinician cross join lateral (${sql.join(
          " union all ",
          false,
        )(
          INBOX_CONDITIONS.map(
            (condition) => sql`
              (select * from inbox where organization_id = clinician.organization_id and npi = clinician.npi
                and ${sql.literal(condition)} and received_at <= (select last from bound)
              order by received_at desc limit ${limit})`,
          ),
        )}) sent
      ), keyed as (
        select *, md5(concat_ws(' ', kind, organization_id, program_id, recipient_id, event_id, detail)) as key from entry
        where written_at <= (select last from bound)
      )
      select ${entryRows.columns} from keyed
      where ${newestFirst.after(before)} order by ${newestFirst.order} limit ${limit}`.pipe(entryRows.decode)

  const readNewest = Effect.fnUntraced(function* (people: People, limit: number, before: TimelineCursor | null) {
    const { rows, next } = newestFirst.page(yield* readEntries(people, limit + 1, before), limit)
    const entries = rows.map(({ key, happenedAt, ...entry }): TimelineEntry => ({ ...entry, at: happenedAt }))
    // Partners choose the ids of their events, which have no deliveries.
    const eventsOf = (owner: OrganizationId) =>
      rows.flatMap(({ kind, organizationId, eventId }) =>
        organizationId === owner && kind !== "received" && eventId !== null ? [eventId as EventId] : [],
      )
    const owners = new Set(rows.map(({ organizationId }) => organizationId))
    const deliveries = yield* Effect.forEach(owners, (owner) => events.deliveries(owner, eventsOf(owner)))
    return {
      // An event is recorded a moment after it happened.
      entries: entries.toSorted((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0)),
      /** The deliveries of the entries' events. */
      deliveries: deliveries.flat(),
      next,
    }
  })

  return {
    /**
     * Reads at most `limit` recipient records of a clinician's NPI, and the newest `limit` entries, oldest first. An erased NPI or
     * address has neither; `erasedIn` lists the organizations that still suppress it.
     */
    find: Effect.fnUntraced(function* (key: ClinicianKey, limit: number) {
      const clinicians = yield* findClinicians(key)
      const recipients = yield* findRecipients(clinicians, limit + 1)
      const { by, value, organizationId } = key
      const owners = sql`select id from organizations where ${equal({ id: organizationId })}`.pipe(decodeOrganizations)
      const organizations = by === "email" ? yield* owners : []
      const addresses = [...recipients, ...organizations.map((id) => ({ organizationId: id, email: value }))]
      const { next, ...newest } = yield* readNewest({ clinicians, addresses, recipients }, limit, null)
      const clinician = {
        npi: by === "npi" ? (value as Npi) : null,
        email: by === "email" ? (value as EmailAddress) : null,
      }
      const erasedIn = yield* erasures.organizationsOf(clinician, organizationId)
      const hasMore = next !== null || recipients.length > limit
      return { recipients: recipients.slice(0, limit), ...newest, hasMore, erasedIn }
    }),

    /** Finds the clinicians of a key, each with their newest record first. */
    findPeople: Effect.fnUntraced(function* (key: ClinicianKey) {
      const clinicians = yield* findClinicians(key)
      const recipients = yield* findRecipients(clinicians, MAX_RECIPIENTS)
      return recipients.toReversed()
    }),

    /**
     * Finds the first records by a part of their address, ignoring case, without erased ones. After `PART_SECONDS` without a result, finds
     * addresses that start with the part, by an index, and `isWhole` is false.
     */
    findByPart: (part: string, organizationId: OrganizationId | undefined) => {
      const read = (isMeant: Statement.Fragment) => sql`
        select ${matches.columns} from recipient_keys
        where ${equal({ organization_id: organizationId })} and npi >= '1' and ${isMeant}
        order by email, id limit ${MAX_MATCHES}`
      const starting = sql`
        select found.* from campaigns campaign cross join lateral (${read(sql`
          organization_id = campaign.organization_id and campaign_id = campaign.id
          and email >= lower(${part}) and email < lower(${part}) || ${"\u{10ffff}"}`)}
        ) found
        order by email, id limit ${MAX_MATCHES}`
      return sql.unsafe(`set local statement_timeout = '${PART_SECONDS}s'`).pipe(
        Effect.andThen(read(sql`strpos(email, lower(${part})) > 0`)),
        sql.withTransaction,
        matches.decode,
        Effect.map((records) => ({ records, isWhole: true })),
        Effect.catchIf(
          ({ reason }) => reason._tag === "StatementTimeoutError",
          () => Effect.map(matches.decode(starting), (records) => ({ records, isWhole: false })),
        ),
      )
    },

    /** Reads the records of a recipient's clinician in one organization, newest first, and entries, oldest first; undefined for an unknown recipient. */
    read: Effect.fnUntraced(function* (
      recipientId: RecipientId,
      { limit, before = null }: { readonly limit: number; readonly before?: TimelineCursor | null },
    ) {
      const clinicians = yield* findClinicians({ by: "id", value: recipientId })
      const recipients = yield* findRecipients(clinicians, MAX_RECIPIENTS)
      const recipient = recipients.find(({ id }) => id === recipientId)
      if (recipient === undefined) return undefined
      const newest = yield* readNewest({ clinicians, addresses: recipients, recipients }, limit, before)
      const { organizationId } = recipient
      const names = yield* sql`
        select id, name from organizations where id = ${organizationId}
        union all select id, name from programs where organization_id = ${organizationId}
        union all select id, name from campaigns
          where organization_id = ${organizationId} and id = any (${recipients.map(({ campaignId }) => campaignId)}::text[])`.pipe(
        decodeNames,
      )
      return {
        recipient,
        recipients: recipients.toReversed(),
        ...newest,
        /** Of the organization, its programs and campaigns, by id. */
        names: new Map(names.map(({ id, name }) => [id, name])),
      }
    }),
  }
})
