import type { CampaignId, OrganizationId, ProgramId, RecipientId } from "@outreach/domain/Identifier"
import type { Recipient } from "@outreach/domain/recipients/Recipient"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"
import { recipientColumns } from "./recipientColumns.ts"

/** What can happen to a clinician here; `received` is an event that a partner sent. */
type TimelineKind =
  | "imported"
  | "published"
  | "sent"
  | "bounced"
  | "opened"
  | "clicked"
  | "unsubscribed"
  | "received"
  | "suppressed"
  | "withdrawn"

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
  /** A bounce's or withdrawal's reason, a suppression's kind and reason, a received event's type and state, or `bot suspected`. */
  readonly detail: string | null
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

type Clinician = Pick<Recipient, "organizationId" | "npi">

/** Reads what happened to one clinician; every look-up is a range of an index, for each organization, campaign or program. */
export class TimelineReader extends Context.Service<TimelineReader>()("postgres/recipients/TimelineReader", {
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
        select ${sql.literal(recipientColumns)} from recipients
        where organization_id = campaign.organization_id and campaign_id = campaign.id and npi = clinician.npi limit 1
      ) found
      order by found.id limit ${limit}`

    const readEntries = (
      clinicians: ReadonlyArray<Clinician>,
      addresses: ReadonlyArray<{ readonly organizationId: OrganizationId; readonly email: string }>,
      recipients: ReadonlyArray<Recipient>,
      limit: number,
    ) => sql<TimelineEntry>`
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
      ), entry as (
        select fact.at, fact.kind, organization_id, program_id, campaign_id, id as recipient_id, null as event_id, fact.detail
        from recipient cross join lateral (values
          ('imported', created_at, null), ('published', published_at, null), ('sent', sent_at, null),
          ('withdrawn', withdrawn_at, withdrawal_reason)
        ) as fact (kind, at, detail)
        where fact.at is not null
        union all
        select happened.occurred_at, substring(happened.type from 'outreach\\.email_(.*)'), recipient.organization_id,
          recipient.program_id, recipient.campaign_id, recipient.id, happened.id,
          coalesce(body::jsonb->'data'->>'bounce_reason',
            case when (body::jsonb->'data'->>'is_bot_suspected')::boolean then 'bot suspected' end)
        from recipient cross join lateral (
          select * from events
          where organization_id = recipient.organization_id and recipient_id = recipient.id
            and type in ('outreach.email_bounced', 'outreach.email_opened', 'outreach.email_clicked')
          order by emitted_at desc limit ${limit}
        ) happened
        union all
        -- A campaign that is not forwarded to the partner has no event that tells of it.
        select bounced_at, 'bounced', organization_id, program_id, campaign_id, id, null, null
        from recipient
        where bounced_at is not null and not exists (
          select from events
          where organization_id = recipient.organization_id and recipient_id = recipient.id and type = 'outreach.email_bounced')
        union all
        select asked_at, 'unsubscribed', recipient.organization_id, program_id, campaign_id, recipient_id, null, null
        from recipient
        join unsubscriptions unsubscription
          on unsubscription.organization_id = recipient.organization_id and unsubscription.recipient_id = recipient.id
        union all
        select reported_at, 'complained', recipient.organization_id, program_id, recipient.campaign_id, recipient_id, null, feedback_type
        from recipient
        join complaints complaint on complaint.organization_id = recipient.organization_id
          and complaint.campaign_id = recipient.campaign_id and complaint.recipient_id = recipient.id
        union all
        select suppression.created_at, 'suppressed', suppression.organization_id, suppression.program_id, null, null, null,
          suppression.kind || ': ' || reason
        from identity
        join programs program on program.organization_id = identity.organization_id
        join suppressions suppression on suppression.organization_id = program.organization_id
          and suppression.program_id = program.id and suppression.kind = identity.kind and suppression.value = identity.value
        union all
        select suppression.created_at, 'suppressed', suppression.organization_id, null, null, null, null,
          suppression.kind || ': ' || reason
        from identity
        join organization_suppressions suppression on suppression.organization_id = identity.organization_id
          and suppression.kind = identity.kind and suppression.value = identity.value
        union all
        select received_at, 'received', clinician.organization_id, null, null, null, event_id,
          type || ', ' || case when applied_at is not null then 'applied' when quarantined_at is not null then 'set aside: ' || reason
            else 'waiting' end
        from clinician cross join lateral (
          (select * from inbox where organization_id = clinician.organization_id and npi = clinician.npi and applied_at is not null
            order by received_at desc limit ${limit})
          union all
          (select * from inbox where organization_id = clinician.organization_id and npi = clinician.npi
            and applied_at is null and quarantined_at is null order by received_at desc limit ${limit})
          union all
          (select * from inbox where organization_id = clinician.organization_id and npi = clinician.npi
            and quarantined_at is not null order by received_at desc limit ${limit})
        ) sent
      )
      select at, kind, organization_id as "organizationId", program_id as "programId", campaign_id as "campaignId",
        recipient_id as "recipientId", event_id as "eventId", detail
      from (select * from entry order by at desc limit ${limit}) newest order by at`

    return {
      /** Reads at most `limit` recipient records of a clinician's NPI, and the newest `limit` entries of what happened, oldest first. */
      find: Effect.fn("TimelineReader.find")(function* (key: ClinicianKey, limit: number) {
        const clinicians = yield* findClinicians(key)
        const recipients = yield* findRecipients(clinicians, limit)
        const given = key.by === "email" ? yield* organizationsOf(key) : []
        const addresses = [...recipients, ...given.map((organizationId) => ({ organizationId, email: key.value }))]
        return { recipients, entries: yield* readEntries(clinicians, addresses, recipients, limit) }
      }, orDieAs("TimelineReader.find")),
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
