import { EVENT_TYPES } from "@outreach/contract/names"
import type { RecipientId } from "@outreach/domain/Identifier"
import { createPersonalDataFinder } from "@outreach/postgres/erasure/PersonalDataFinder"
import { INDEXED_EVENTS } from "@outreach/postgres/events/recipientEvents"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql, value } from "@outreach/testing/sql"
import { SqlClient } from "effect/sql"
import { expect } from "vitest"

const { test } = testsOnDatabase()

test("the index of a recipient's events contains the contract's single-recipient types without a timestamp column", function* () {
  const index = yield* value<string>`
    select pg_get_expr(indpred, indrelid) as condition from pg_index where indexrelid = 'events_of_recipient'::regclass`
  const types = [...index.matchAll(/'([^']+)'::text/g)].map(([, type]) => type)
  expect(types.sort()).toEqual([...INDEXED_EVENTS].sort())
})

test("a recipient's exported data includes events of every type that the contract assigns to recipients", function* () {
  const { organization, campaign } = yield* seedCampaign({ recipients: 2 })
  const types = Object.entries(EVENT_TYPES).flatMap(
    ([type, row]): ReadonlyArray<readonly [string, string]> => ("recipients" in row ? [[type, row.recipients]] : []),
  )
  const about = types.filter(([, recipients]) => recipients !== "none").map(([type]) => type)
  expect(about.length).toBeGreaterThan(4)
  yield* sql`
    update recipients set published_at = timestamptz '2026-01-02', sent_at = timestamptz '2026-01-03' where campaign_id = ${campaign.id}`
  // Two recipients, each with an event of every type; an event that lists recipients contains both.
  const events = yield* sql<{ id: string; type: string; email: string }>`
    insert into events (organization_id, id, type, campaign_id, program_id, traceparent, recipient_id, occurred_at, emitted_at, body)
    select organization_id, make_id('evt'), type, campaign_id, program_id, email,
      case recipients when 'one' then recipient.id end, clock_timestamp(),
      case type when 'outreach.recipients_published' then published_at when 'outreach.email_sent' then sent_at else clock_timestamp() end,
      '{"data":{"recipients":["' || (select string_agg(id, '","') from recipients) || '"]}}'
    from unnest(${types.map(([type]) => type)}::text[], ${types.map(([, recipients]) => recipients)}::text[]) as kind (type, recipients)
    join recipients recipient on campaign_id = ${campaign.id} and (recipients = 'one' or npi = (select max(npi) from recipients))
    returning id, type, traceparent as email`
  const [recipient] = yield* sql<{ id: RecipientId; token: string; email: string }>`
    select id, token, email from recipients where campaign_id = ${campaign.id} order by npi limit 1`
  const subject = { organizationId: organization.id, npis: [], emails: [], recipients: [recipient!] }
  const keys = yield* createPersonalDataFinder(yield* SqlClient.SqlClient).searches.events(subject)
  const found = keys.map(({ id }) => events.find((event) => event.id === id)!)
  expect(found.map(({ type }) => type).sort()).toEqual(about.sort())
  expect(found.filter(({ email }) => email === recipient!.email)).toHaveLength(
    about.length - types.filter(([, recipients]) => recipients === "listed").length,
  )
})
