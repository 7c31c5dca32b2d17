import { describe, expect, it } from "@effect/vitest"
import type { RecipientId } from "@outreach/domain/Identifier"
import { UnsubscriptionRepository } from "@outreach/domain/suppressions/UnsubscriptionRepository"
import { eventually } from "@outreach/testing/eventually"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { journey } from "../journey.ts"
import { runWorker } from "../runWorker.ts"

const { url, run, query } = journey()

describe("the worker", () => {
  it("suppresses those who asked, and withdraws them wherever their organization has not written to them yet", async () => {
    const { organization, recipients } = await run(
      Effect.gen(function* () {
        const { organization } = yield* seedCampaign({ recipients: 3, opensIn: 3600 })
        const rows = yield* (yield* SqlClient.SqlClient)<{ id: RecipientId }>`
          select id from recipients where organization_id = ${organization.id} order by id`
        const unsubscriptions = yield* UnsubscriptionRepository
        for (const { id } of rows.slice(0, 2))
          yield* unsubscriptions.ask({ organizationId: organization.id, recipientId: id })
        return { organization, recipients: rows }
      }),
    )
    await runWorker(url())
    const withdrawn = await eventually(
      () =>
        query<{ id: RecipientId; withdrawal_reason: string | null }>(
          (sql) => sql`
            select id, withdrawal_reason from recipients where organization_id = ${organization.id} order by id`,
        ),
      (rows) => rows.filter((row) => row.withdrawal_reason !== null).length === 2,
    )
    const [first, second, third] = recipients
    expect(withdrawn).toEqual([
      { ...first, withdrawal_reason: "suppressed" },
      { ...second, withdrawal_reason: "suppressed" },
      { ...third, withdrawal_reason: null },
    ])
    const suppressed = await query(
      (sql) =>
        sql`select kind, reason from organization_suppressions where organization_id = ${organization.id} order by kind`,
    )
    expect(suppressed).toEqual([
      { kind: "email", reason: "unsubscribed" },
      { kind: "email", reason: "unsubscribed" },
      { kind: "npi", reason: "unsubscribed" },
      { kind: "npi", reason: "unsubscribed" },
    ])
  })
})
