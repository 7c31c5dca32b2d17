import { eraseClinician } from "@outreach/domain/erasure/Erasures"
import { PERSONAL_TABLES } from "@outreach/domain/erasure/PersonalData"
import type { EventId } from "@outreach/domain/Identifier"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { insertDeadLetters } from "@outreach/testing/seedDeadLetters"
import { dumpColumns, namingPerson, person, seedPerson } from "@outreach/testing/seedPerson"
import { column, sql, value } from "@outreach/testing/sql"
import { expect } from "vitest"
import { COLUMNS_OF_CLINICIANS } from "./columnsOfClinicians.ts"

const { test } = testsOnDatabase()

const by = { operator: "Dana Reyes", command: null, release: "test" }

const listOf = (columns = ""): ReadonlyArray<string> => columns.split(" ").filter((column) => column !== "")
const tables = Object.entries(COLUMNS_OF_CLINICIANS)
const columnsThat = (pick: (data: (typeof tables)[number][1]) => ReadonlyArray<string>): ReadonlyArray<string> =>
  tables.flatMap(([table, data]) => pick(data).map((column) => `${table}.${column}`)).sort()

const deleted = columnsThat((data) => listOf(data.deleted))
const erased = columnsThat((data) => listOf(data.erased))
const kept = columnsThat((data) => Object.keys(data.kept ?? {}))
const others = columnsThat((data) => listOf(data.others))

test("every text, JSON and binary column is listed as erased, kept with a reason, or not about clinicians", function* () {
  const columns = yield* column<string>`
    select relname || '.' || attname as name from pg_attribute
    join pg_class on pg_class.oid = attrelid
    join pg_type on pg_type.oid = atttypid
    left join pg_type element on element.oid = pg_type.typelem and pg_type.typcategory = 'A'
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and attnum > 0 and not attisdropped
      -- Numbers, times and booleans can't identify a person.
      and coalesce(element.typcategory, pg_type.typcategory) not in ('N', 'D', 'B', 'T')`
  const known = [...deleted, ...erased, ...kept, ...others].sort()
  expect([...columns].sort()).toEqual(known)
  for (const [, { kept = {} }] of tables) for (const reason of Object.values(kept)) expect(reason).not.toBe("")
})

test("columns listed as erased contain the clinician before an erasure but not afterwards, and the remaining ones never do", function* () {
  const { organization, campaign, endpoint, token, recipientId } = yield* seedPerson()
  const word = "quetzal"
  yield* sql`
    insert into messages (organization_id, recipient_id, campaign_id, due_at, failure_class, failure_code)
    values (${organization.id}, ${recipientId}, ${campaign.id}, clock_timestamp() + interval '1 day', ${word}, ${word})`
  yield* sql`update message_attempts set reply = ${word} where recipient_id = ${recipientId}`
  yield* sql`update complaints set feedback_type = ${word}`
  yield* sql`
    insert into campaign_domains (organization_id, campaign_id, domain, last_reply)
    values (${organization.id}, ${campaign.id}, split_part(${person.email}, '@', 2), ${word})
    on conflict (organization_id, campaign_id, domain) do update set last_reply = excluded.last_reply`
  yield* sql`
    insert into delivered (organization_id, id, endpoint_id, event_id, attempts, created_at)
    select organization_id, make_id('dlv'), ${endpoint.id}, id, jsonb_build_array(attempt_json(1, now(), 5, 200, 'delivered', ${word})), now()
    from events where recipient_id = ${recipientId} limit 1`
  const event = yield* value<EventId>`select id from events where recipient_id = ${recipientId} limit 1`
  const dead = { organizationId: organization.id, endpointId: endpoint.id, eventId: event }
  yield* insertDeadLetters([{ ...dead, reason: "rejected", attempts: [{ response: `Not ${word}` }] }])
  const isOf = (columns: ReadonlyArray<string>, table: string) =>
    columns.some((column) => column.startsWith(`${table}.`))

  const before = yield* dumpColumns
  const named = namingPerson(before, token, word, "198.51.100.7")
  const referred = namingPerson(before, recipientId)
  expect(erased.filter((column) => !named.includes(column))).toEqual([])
  for (const [table, data] of tables) {
    if (data.deleted !== undefined) expect([table, isOf([...named, ...referred], table)]).toEqual([table, true])
  }
  expect([...named, ...referred].filter((column) => others.includes(column))).toEqual([])
  expect(named.filter((column) => kept.includes(column))).toEqual([])

  yield* eraseClinician(organization.id, { npi: person.npi, email: null }, by)
  const after = yield* dumpColumns
  expect(namingPerson(after, token, word, "198.51.100.7")).toEqual([])
  expect(
    namingPerson(after, recipientId).filter((column) => deleted.includes(column) || others.includes(column)),
  ).toEqual([])
})

test("every table that an erasure changes is counted and exported", function* () {
  // Found through other tables: hit windows, domain replies, and groups of dead letters; and all of an organization's stored responses.
  const indirect = ["campaign_domains", "failure_groups", "hit_windows", "stored_responses"]
  const changed = tables.flatMap(([table, data]) => ((data.deleted ?? data.erased) === undefined ? [] : [table]))
  expect(changed.filter((table) => !indirect.includes(table)).sort()).toEqual([...PERSONAL_TABLES].sort())
})
