import type { Position } from "./Cursors.ts"
import type { Sql } from "./connect.ts"

/** A published event. Filters and expansions are not implemented, because they are not measured. */
export interface EventRow extends Position {
  readonly body: string
}

export const eventsSince = (sql: Sql, organization: string, since: string, limit: number) => sql<EventRow[]>`
  select id, emitted_at as at, body from events
  where organization_id = ${organization} and emitted_at >= ${since}::timestamptz
    and type in ('outreach.email_sent', 'outreach.email_bounced', 'outreach.email_opened', 'outreach.email_clicked')
  order by emitted_at, id limit ${limit}`

export const eventsAfter = (sql: Sql, organization: string, { at, id }: Position, limit: number) => sql<EventRow[]>`
  select id, emitted_at as at, body from events
  where organization_id = ${organization} and (emitted_at, id) > (${at}::timestamptz, ${id})
    and type in ('outreach.email_sent', 'outreach.email_bounced', 'outreach.email_opened', 'outreach.email_clicked')
  order by emitted_at, id limit ${limit}`
