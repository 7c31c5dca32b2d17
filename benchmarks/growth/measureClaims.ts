import { decideClaim } from "@outreach/domain/mail/claimMessages"
import type { DueMessages } from "@outreach/domain/mail/MessageQueue"
import type { Sql } from "postgres"

/** A database with a number of sending campaigns, each with due messages. */
export interface Claimed {
  readonly campaigns: number
  readonly sql: Sql
}

const CAMPAIGNS_PER_ORGANIZATION = 5
const LIMIT = 64

/** Fills an empty database with sending campaigns, five per organization, and enough messages for all claims. */
export async function seedSending({ campaigns, sql }: Claimed, claims: number): Promise<void> {
  const each = Math.max(LIMIT, Math.ceil((claims * LIMIT) / campaigns))
  await sql`
    insert into organizations (id, name)
    select 'org_' || lpad(n::text, 32, '0'), 'Sending' from generate_series(1, ${Math.ceil(campaigns / CAMPAIGNS_PER_ORGANIZATION)}::int) n`
  await sql`
    insert into programs (organization_id, id, slug, name)
    select id, replace(id, 'org_', 'pgm_'), 'heart', 'Heart' from organizations`
  await sql`
    insert into campaigns (organization_id, id, program_id, name, kind, status, subject, html, window_start, window_end)
    select replace(program.id, 'pgm_', 'org_'), 'cmp_' || lpad(n::text, 32, '0'), program.id, 'Spring', 'traffic', 'sending', 's', 'h',
      clock_timestamp() - interval '1 hour', clock_timestamp() + interval '1 day'
    from generate_series(1, ${campaigns}::int) n
    join programs program on program.id = 'pgm_' || lpad((1 + (n - 1) / ${CAMPAIGNS_PER_ORGANIZATION}::int)::text, 32, '0')`
  await sql`
    insert into recipients (organization_id, id, campaign_id, program_id, token, npi, email, created_at, updated_at)
    select organization_id, 'rcp_' || substr(campaign.id, 24) || lpad(n::text, 20, '0'), campaign.id, program_id,
      lpad(to_hex(row_number() over ()), 6, '0'), (1000000000 + row_number() over ())::text, 'a' || n || '@host' || n % 50 || '.test',
      clock_timestamp(), clock_timestamp()
    from campaigns campaign cross join generate_series(1, ${each}::int) n`
  await sql`
    insert into messages (organization_id, recipient_id, campaign_id, due_at)
    select organization_id, id, campaign_id, created_at from recipients`
  // Like the worker, which adds missing turns.
  await sql`insert into campaign_turns select organization_id, id, '-infinity' from campaigns`
  await sql`insert into organization_turns select distinct organization_id, '-infinity'::timestamptz from campaigns`
  await sql`vacuum analyze`
}

/** Claims 64 messages and deletes them. Returns the milliseconds the claim took. */
export async function measureClaim({ sql }: Claimed, perMinute: number | null): Promise<number> {
  const begun = performance.now()
  const rows = await sql.begin(async (sql) => {
    const [locked] = await sql<[{ due: DueMessages }]>`
      select lock_due_messages(
        ${LIMIT}::int, ${LIMIT}::int, ${perMinute}::int, ${perMinute}::int, ${LIMIT}::int, '{}'::jsonb) as due`
    const decision = decideClaim(locked.due, { perMinute, perDomainMinute: perMinute }, LIMIT)
    const leases = decision.leases.map(({ organizationId, recipientId }) => ({ organizationId, recipientId }))
    return sql`select * from lease_messages(${JSON.stringify({ ...decision, leases })}::text::jsonb, 60)`
  })
  const took = performance.now() - begun
  if (rows.length !== LIMIT) throw new Error(`A claim leased ${rows.length} messages.`)
  await sql`delete from messages where lease_token is not null`
  return took
}
