import { expect } from "@effect/vitest"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent } from "@outreach/testing/seedCampaign"
import { insertDeadLetters } from "@outreach/testing/seedDeadLetters"
import { seedSentCampaign } from "@outreach/testing/sendCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { audit } from "../../src/operations/audit.ts"
import { recipients } from "../../src/operations/campaignRecipients.ts"
import { campaigns } from "../../src/operations/campaignReports.ts"
import { deadLetters } from "../../src/operations/deadLetters.ts"
import { events } from "../../src/operations/events.ts"
import { headingsOf, type List, type Page } from "../../src/operations/List.ts"
import { AuditLog } from "../../src/operators/AuditLog.ts"

const { test } = testsOnDatabase()

/** Seeds five rows of each list, except that there are three campaigns. */
const seed = Effect.gen(function* () {
  const { organization, campaign, endpoint } = yield* seedSentCampaign({ recipients: 5 })
  const [organizationId, campaignId] = [organization.id, campaign.id]
  yield* sql`
    insert into campaigns select (jsonb_populate_record(campaign, jsonb_build_object(
      'id', 'cmp_' || lpad(n::text, 32, '0')))).*
    from campaigns campaign cross join generate_series(1, 2) n where id = ${campaignId}`
  const sent = yield* publishSent(campaign, 5)
  yield* insertDeadLetters(
    sent.map((eventId) => ({
      organizationId,
      endpointId: endpoint.id,
      eventId,
      reason: "exhausted" as const,
      attempts: [{}],
    })),
  )
  const { begin } = yield* AuditLog
  const entry = {
    command: "x",
    arguments: { organization: organizationId },
    operator: "Ada",
    osUser: "root",
    host: "h",
  }
  for (let n = 0; n < 5; n++) {
    yield* begin(entry)
  }
  return { organizationId, campaignId }
})

type Rows = ReadonlyArray<object>

/** Reads a list in an order, in pages of two rows. */
const readPages = Effect.fnUntraced(function* <F, Row extends object, R>(
  { read }: Pick<List<F, Row, R>, "read">,
  filter: object,
) {
  const rows: Array<Row> = []
  let after: string | null = null
  do {
    const page: Page<Row> = yield* read(filter as never, { limit: 2, after })
    rows.push(...page.rows)
    after = page.next
  } while (after !== null)
  return rows as Rows
})

test("lists have the same rows in both directions of each of their orders, page by page", function* () {
  const { organizationId, campaignId } = yield* seed
  const lists = [
    [campaigns, { organizationId }, ["id"]],
    [events, { organizationId }, ["emitted-at"]],
    [events, { campaignId }, ["emitted-at"]],
    [events, { organizationId, type: "outreach.email_sent" }, ["emitted-at"]],
    [recipients, { campaignId }, ["at"]],
    [recipients, { campaignId, outcome: "sent" }, ["at"]],
    [deadLetters, { organizationId }, ["finished-at"]],
    [deadLetters, { organizationId, status: 500 }, ["finished-at"]],
    [audit, { organizationId }, ["begun-at"]],
  ] as const
  for (const [list, filter, columns] of lists) {
    const { read } = list as unknown as Pick<List<object, object, never>, "read">
    const declared = Object.values(headingsOf(list as never, undefined)).map(({ next }) => next.replace(/-\w+$/, ""))
    expect(declared).toEqual(columns)
    for (const column of columns) {
      const [up, down] = yield* Effect.all(
        ["asc", "desc"].map((direction) => readPages({ read }, { ...filter, sort: `${column}-${direction}` })),
      )
      expect([list.command, column, up]).toEqual([list.command, column, down!.toReversed()])
      expect(up!.length).toBeGreaterThan(2)
      expect(new Set(up!.map((row) => JSON.stringify(row))).size).toBe(up!.length)
    }
    expect(yield* readPages({ read }, filter)).toEqual(
      yield* readPages({ read }, { ...filter, sort: `${columns[0]}-desc` }),
    )
  }
})
