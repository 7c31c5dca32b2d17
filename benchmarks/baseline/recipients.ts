import type { Position } from "./Cursors.ts"
import type { Sql } from "./connect.ts"

/** A recipient with the field names of the API. */
interface RecipientRow {
  readonly token: string
  readonly npi: string
  readonly email: string
  readonly service_recipient_id: string
  readonly service_campaign_id: string
  readonly service_program_id: string
  readonly created_at: string
  readonly updated_at: string
  readonly sent_at: string | null
  readonly bounced_at: string | null
  readonly last_event_at: string | null
}

/** The data that `expand[]` adds to a recipient. */
export interface Summary {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly updatedAt: string
  readonly program: { readonly id: string; readonly slug: string; readonly name: string; readonly status: string }
  readonly programUpdatedAt: string
}

export const findRecipient = (sql: Sql, organization: string, token: string) => sql<RecipientRow[]>`
  select token, npi, email, id as service_recipient_id, campaign_id as service_campaign_id,
    program_id as service_program_id, created_at, updated_at, sent_at, bounced_at, last_event_at
  from recipients where organization_id = ${organization} and id = (
    select recipient_id from recipient_keys where organization_id = ${organization} and token = ${token})`

export const recipientsSince = (sql: Sql, organization: string, since: string, limit: number) => sql<RecipientRow[]>`
  select token, npi, email, id as service_recipient_id, campaign_id as service_campaign_id,
    program_id as service_program_id, created_at, updated_at, sent_at, bounced_at, last_event_at
  from recipients where organization_id = ${organization} and updated_at >= ${since}::timestamptz
  order by updated_at, id limit ${limit}`

export const recipientsAfter = (sql: Sql, organization: string, { at, id }: Position, limit: number) => sql<
  RecipientRow[]
>`
  select token, npi, email, id as service_recipient_id, campaign_id as service_campaign_id,
    program_id as service_program_id, created_at, updated_at, sent_at, bounced_at, last_event_at
  from recipients
  where organization_id = ${organization} and (updated_at, id) > (${at}::timestamptz, ${id})
  order by updated_at, id limit ${limit}`

export const summariesOf = (sql: Sql, organization: string, campaigns: readonly string[]) => sql<Summary[]>`
  select c.id, c.name, c.status, c.updated_at as "updatedAt", p.updated_at as "programUpdatedAt",
    json_build_object('id', p.id, 'slug', p.slug, 'name', p.name, 'status', p.status) as program
  from campaigns c join programs p on p.organization_id = c.organization_id and p.id = c.program_id
  where c.organization_id = ${organization} and c.id = any(${campaigns as string[]})`

/** Formats a recipient as the API does. */
export const recipientRecord = (
  row: RecipientRow,
  expand: readonly ("campaign" | "program")[],
  summary: Summary | undefined,
) => ({
  object: "recipient_record",
  livemode: false,
  token: row.token,
  npi: row.npi,
  email: row.email,
  service_recipient_id: row.service_recipient_id,
  service_campaign_id: row.service_campaign_id,
  service_program_id: row.service_program_id,
  created_at: row.created_at,
  updated_at: row.updated_at,
  sent_at: row.sent_at,
  bounced_at: row.bounced_at,
  last_event_at: row.last_event_at,
  ...(expand.includes("campaign") && {
    campaign: summary
      ? {
          object: "campaign",
          livemode: false,
          id: summary.id,
          name: summary.name,
          program_id: summary.program.id,
          status: summary.status,
        }
      : null,
  }),
  ...(expand.includes("program") && {
    program: summary ? { object: "program", livemode: false, ...summary.program } : null,
  }),
})
