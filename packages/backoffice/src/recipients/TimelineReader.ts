import type { OutreachEventType } from "@outreach/domain/events/Event"
import type { CampaignId, OrganizationId, ProgramId, RecipientId } from "@outreach/domain/Identifier"
import type { Recipient } from "@outreach/domain/recipients/Recipient"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { orDieAs } from "@outreach/postgres/DatabaseFailure"
import { IN_EVENTS_OF_RECIPIENT } from "@outreach/postgres/events/recipientEvents"
import { recipientColumns } from "@outreach/postgres/recipients/recipientRows"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** What can happen to a clinician here; `attempted` is a message that was not taken yet, `received` an event that a partner sent. */
export type TimelineKind =
  | "imported"
  | "published"
  | "attempted"
  | "sent"
  | "bounced"
  | "opened"
  | "clicked"
  | "complained"
  | "unsubscribed"
  | "resubscribed"
  | "received"
  | "suppressed"
  | "withdrawn"

/** What a timeline calls the events that are found by `events_of_recipient`, and those that have a time in the recipient's row. */
const KINDS = {
  "outreach.recipients_published": "published",
  "outreach.email_sent": "sent",
  "outreach.email_bounced": "bounced",
  "outreach.email_opened": "opened",
  "outreach.email_clicked": "clicked",
} as const satisfies Readonly<Record<OutreachEventType, TimelineKind>>

/** One thing that happened to a clinician. */
export interface TimelineEntry {
  readonly at: Timestamp
  readonly kind: TimelineKind
  readonly organizationId: OrganizationId
  readonly programId: ProgramId | null
  readonly campaignId: CampaignId | null
  readonly recipientId: RecipientId | null
  /** The event that tells of it, ours or the partner's. */
  readonly eventId: string | null
  /**
   * A bounce's or withdrawal's reason, a suppression's kind and reason, a received event's type and state, or why a hit is suspected. The mail
   * server's reply follows, where there is one.
   */
  readonly detail: string | null
}

/** The place of an entry among those of its clinician. */
export interface TimelinePosition {
  /** When the entry was written down: an event's stamp, or the time of the entry itself. */
  readonly at: Timestamp
  readonly key: string
}

/** Which clinician is meant: by NPI, by e-mail address (whose case does not matter), or by a recipient's token or id. */
export interface ClinicianKey {
  readonly by: "npi" | "email" | "token" | "id"
  readonly value: string
  /** Default: every organization. */
  readonly organizationId?: OrganizationId
}

/** How many clinicians one key may lead to: several may share an address, or have the same token in different organizations. */
const MAX_CLINICIANS = 100
/** How many records of them are looked at: a clinician has at most one in each campaign. */
const MAX_RECIPIENTS = 500

type Clinician = Pick<Recipient, "organizationId" | "npi">

/** Reads what happened to one clinician; every look-up is a range of an index, for each organization, campaign or program. */
export class TimelineReader extends Context.Service<TimelineReader>()("backoffice/recipients/TimelineReader", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const findClinicians = ({ by, value, organizationId = undefined }: ClinicianKey) => {
      const only = sql`(${organizationId ?? null}::text is null or organization.id = ${organizationId ?? null})`
      switch (by) {
        case "npi":
          return sql<Clinician>`
            select id as "organizationId", ${value} as npi from organizations organization where ${only}`
        case "email":
          return sql<Clinician>`
            select distinct organization.id as "organizationId", found.npi from organizations organization
            join campaigns campaign on campaign.organization_id = organization.id
            cross join lateral (
              select npi from recipients
              where organization_id = campaign.organization_id and campaign_id = campaign.id and lower(email) = lower(${value}) limit 1
            ) found
            where ${only} limit ${MAX_CLINICIANS}`
        case "id":
        case "token":
          return sql<Clinician>`
            select organization.id as "organizationId", found.npi from organizations organization
            cross join lateral (
              select npi from recipients where organization_id = organization.id and ${sql(by)} = ${value} limit 1
            ) found
            where ${only} limit ${MAX_CLINICIANS}`
      }
    }

    const findRecipients = (clinicians: ReadonlyArray<Clinician>, limit: number) => sql<Recipient>`
      select found.* from unnest(
        ${clinicians.map(({ organizationId }) => organizationId)}::text[], ${clinicians.map(({ npi }) => npi)}::text[]
      ) as clinician (organization_id, npi)
      join campaigns campaign on campaign.organization_id = clinician.organization_id
      cross join lateral (
        select ${recipientColumns} from recipients
        where organization_id = campaign.organization_id and campaign_id = campaign.id and npi = clinician.npi limit 1
      ) found
      order by found.id limit ${limit}`

    const readEntries = (
      clinicians: ReadonlyArray<Clinician>,
      addresses: ReadonlyArray<{ readonly organizationId: OrganizationId; readonly email: string }>,
      recipients: ReadonlyArray<Recipient>,
      limit: number,
      before: TimelinePosition | null,
    ) => sql<TimelineEntry & TimelinePosition & { readonly happenedAt: Timestamp }>`
      with clinician as materialized (
        select * from unnest(
          ${clinicians.map(({ organizationId }) => organizationId)}::text[], ${clinicians.map(({ npi }) => npi)}::text[]
        ) as clinician (organization_id, npi)
      ), identity as materialized (
        select organization_id, 'npi' as kind, npi as value from clinician
        union
        select organization_id, 'email', lower(email) from unnest(
          ${addresses.map(({ organizationId }) => organizationId)}::text[], ${addresses.map(({ email }) => email)}::text[]
        ) as address (organization_id, email)
      ), recipient as materialized (
        select recipients.* from unnest(
          ${recipients.map(({ organizationId }) => organizationId)}::text[], ${recipients.map(({ id }) => id)}::text[]
        ) as known (organization_id, id)
        join recipients using (organization_id, id)
      ), bound as materialized (
        select coalesce(${before?.at ?? null}::timestamptz, 'infinity') as last
      ), attempt as materialized (
        select attempt.*, recipient.program_id, recipient.campaign_id from recipient
        join message_attempts attempt on attempt.organization_id = recipient.organization_id and attempt.recipient_id = recipient.id
      ), entry as (
        select fact.at as written_at, fact.at, fact.kind, organization_id, program_id, campaign_id, id as recipient_id,
          null as event_id, fact.detail
        from recipient cross join lateral (values
          ('imported', created_at, null), ('withdrawn', withdrawn_at, withdrawal_reason)
        ) as fact (kind, at, detail)
        where fact.at is not null
        union all
        select published_at, published_at, 'published', organization_id, program_id, campaign_id, recipient.id, announced.id, null
        from recipient left join lateral (
          select event.id from events event
          where organization_id = recipient.organization_id and type = 'outreach.recipients_published' and emitted_at = published_at
            and strpos(body, recipient.id) > 0 limit 1
        ) announced on true
        where published_at is not null
        union all
        select sent_at, sent_at, 'sent', organization_id, program_id, campaign_id, recipient.id, told.id, taken.reply
        from recipient left join lateral (
          select event.id from events event
          where organization_id = recipient.organization_id and type = 'outreach.email_sent' and emitted_at = sent_at
            and recipient_id = recipient.id limit 1
        ) told on true
        left join lateral (
          select reply from attempt where recipient_id = recipient.id and outcome = 'accepted' order by number desc limit 1
        ) taken on true
        where sent_at is not null
        union all
        select last_at, last_at, 'attempted', organization_id, program_id, campaign_id, recipient_id, null,
          concat_ws(', ', outcome, case when times > 1 then times || ' times' end) || coalesce(': ' || reply, '')
        from attempt where outcome not in ('accepted', 'bounced')
        union all
        select happened.emitted_at, happened.occurred_at, ${JSON.stringify(KINDS)}::jsonb->>happened.type,
          recipient.organization_id, recipient.program_id, recipient.campaign_id, recipient.id, happened.id,
          coalesce((body::jsonb->'data'->>'bounce_reason') || coalesce(': ' || returned.reply, ''),
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
          select reply from attempt where recipient_id = recipient.id and outcome = 'bounced' order by last_at desc limit 1
        ) returned on true
        left join lateral (
          select reasons from hits
          where organization_id = recipient.organization_id and recipient_id = recipient.id and received_at = happened.occurred_at
            and happened.type = case kind when 'open' then 'outreach.email_opened' else 'outreach.email_clicked' end
          limit 1
        ) hit on true
        union all
        -- A campaign that is not forwarded to the partner has no events that tell of it.
        select bounced_at, bounced_at, 'bounced', organization_id, program_id, campaign_id, id, null, returned.reply
        from recipient left join lateral (
          select reply from attempt where recipient_id = recipient.id and outcome = 'bounced' order by last_at desc limit 1
        ) returned on true
        where bounced_at is not null and not exists (
          select from events
          where organization_id = recipient.organization_id and recipient_id = recipient.id and type = 'outreach.email_bounced')
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
        select asked_at, asked_at, 'unsubscribed', recipient.organization_id, program_id, campaign_id, recipient_id, null, null
        from recipient
        join unsubscriptions unsubscription
          on unsubscription.organization_id = recipient.organization_id and unsubscription.recipient_id = recipient.id
        union all
        select revoked_at, revoked_at, 'resubscribed', recipient.organization_id, program_id, campaign_id, recipient_id, null, null
        from recipient
        join unsubscriptions unsubscription
          on unsubscription.organization_id = recipient.organization_id and unsubscription.recipient_id = recipient.id
            and revoked_at is not null
        union all
        select reported_at, reported_at, 'complained', recipient.organization_id, program_id, recipient.campaign_id, recipient_id, null,
          feedback_type
        from recipient
        join complaints complaint on complaint.organization_id = recipient.organization_id
          and complaint.campaign_id = recipient.campaign_id and complaint.recipient_id = recipient.id
        union all
        select suppression.created_at, suppression.created_at, 'suppressed', suppression.organization_id, suppression.program_id, null,
          null, null, suppression.kind || ': ' || reason
        from identity
        join programs program on program.organization_id = identity.organization_id
        join suppressions suppression on suppression.organization_id = program.organization_id
          and suppression.program_id = program.id and suppression.kind = identity.kind and suppression.value = identity.value
        union all
        select suppression.created_at, suppression.created_at, 'suppressed', suppression.organization_id, null, null, null, null,
          suppression.kind || ': ' || reason
        from identity
        join organization_suppressions suppression on suppression.organization_id = identity.organization_id
          and suppression.kind = identity.kind and suppression.value = identity.value
        union all
        select received_at, received_at, 'received', clinician.organization_id, null, null, null, event_id,
          type || ', ' || case when applied_at is not null then 'applied' when quarantined_at is not null then 'set aside: ' || reason
            else 'waiting' end
        from clinician cross join lateral (
          (select * from inbox where organization_id = clinician.organization_id and npi = clinician.npi and applied_at is not null
            and received_at <= (select last from bound) order by received_at desc limit ${limit})
          union all
          (select * from inbox where organization_id = clinician.organization_id and npi = clinician.npi
            and applied_at is null and quarantined_at is null
            and received_at <= (select last from bound) order by received_at desc limit ${limit})
          union all
          (select * from inbox where organization_id = clinician.organization_id and npi = clinician.npi
            and quarantined_at is not null and received_at <= (select last from bound) order by received_at desc limit ${limit})
        ) sent
      ), keyed as (
        select *, md5(concat_ws(' ', kind, organization_id, program_id, recipient_id, event_id, detail)) as key from entry
        where written_at <= (select last from bound)
      )
      select written_at as at, key, at as "happenedAt", kind, organization_id as "organizationId", program_id as "programId",
        campaign_id as "campaignId", recipient_id as "recipientId", event_id as "eventId", detail
      from keyed
      where ${before?.at ?? null}::timestamptz is null or (written_at, key) < (${before?.at ?? null}::timestamptz, ${before?.key ?? ""})
      order by written_at desc, key desc limit ${limit}`

    const readNewest = Effect.fnUntraced(function* (
      clinicians: ReadonlyArray<Clinician>,
      addresses: ReadonlyArray<{ readonly organizationId: OrganizationId; readonly email: string }>,
      recipients: ReadonlyArray<Recipient>,
      limit: number,
      before: TimelinePosition | null,
    ) {
      const rows = yield* readEntries(clinicians, addresses, recipients, limit + 1, before)
      const shown = rows.slice(0, limit)
      const last = shown.at(-1)
      const entries = shown.map(({ key, happenedAt, ...entry }): TimelineEntry => ({ ...entry, at: happenedAt }))
      return {
        // An event is written down a moment after what it tells of.
        entries: entries.toSorted((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0)),
        next: rows.length > limit && last !== undefined ? { at: last.at, key: last.key } : null,
      }
    })

    return {
      /** Reads at most `limit` recipient records of a clinician's NPI, and the newest `limit` entries of what happened, oldest first. */
      find: Effect.fn("TimelineReader.find")(function* (key: ClinicianKey, limit: number) {
        const clinicians = yield* findClinicians(key)
        const recipients = yield* findRecipients(clinicians, limit + 1)
        const given = key.by === "email" ? yield* organizationsOf(key) : []
        const addresses = [...recipients, ...given.map((organizationId) => ({ organizationId, email: key.value }))]
        const { entries, next } = yield* readNewest(clinicians, addresses, recipients, limit, null)
        return { recipients: recipients.slice(0, limit), entries, hasMore: next !== null || recipients.length > limit }
      }, orDieAs("TimelineReader.find")),

      /** Finds the clinicians whom a key means, each with their newest record first. */
      findPeople: Effect.fn("TimelineReader.findPeople")(function* (key: ClinicianKey) {
        const clinicians = yield* findClinicians(key)
        const recipients = yield* findRecipients(clinicians, MAX_RECIPIENTS)
        return recipients.toReversed()
      }, orDieAs("TimelineReader.findPeople")),

      /** Reads the records of a recipient's clinician in one organization, newest first, and entries of what happened, newest last; undefined if there is no such recipient. */
      read: Effect.fn("TimelineReader.read")(function* (
        recipientId: RecipientId,
        { limit, before = null }: { readonly limit: number; readonly before?: TimelinePosition | null },
      ) {
        const clinicians = yield* findClinicians({ by: "id", value: recipientId })
        const recipients = yield* findRecipients(clinicians, MAX_RECIPIENTS)
        const recipient = recipients.find(({ id }) => id === recipientId)
        if (recipient === undefined) return undefined
        const { entries, next } = yield* readNewest(clinicians, recipients, recipients, limit, before)
        const { organizationId } = recipient
        const names = yield* sql<{ id: string; name: string }>`
          select id, name from organizations where id = ${organizationId}
          union all select id, name from programs where organization_id = ${organizationId}
          union all select id, name from campaigns
            where organization_id = ${organizationId} and id = any (${recipients.map(({ campaignId }) => campaignId)}::text[])`
        return {
          recipient,
          recipients: recipients.toReversed(),
          entries,
          next,
          /** Of the organization, its programs and the campaigns, by their ids. */
          names: new Map(names.map(({ id, name }) => [id, name])),
        }
      }, orDieAs("TimelineReader.read")),
    }

    function organizationsOf({ organizationId }: ClinicianKey) {
      return organizationId === undefined
        ? Effect.map(sql<{ id: OrganizationId }>`select id from organizations`, (rows) => rows.map(({ id }) => id))
        : Effect.succeed([organizationId])
    }
  }),
}) {
  static readonly layer = Layer.effect(TimelineReader, TimelineReader.make)
}
