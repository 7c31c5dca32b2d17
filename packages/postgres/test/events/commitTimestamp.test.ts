import { describe, expect, it } from "@effect/vitest"
import { addRecipients } from "@outreach/domain/campaigns/RecipientImport"
import { createIdentifier } from "@outreach/domain/Identifier"
import { randomBase62 } from "@outreach/domain/randomBase62"
import type { Recipient } from "@outreach/domain/recipients/Recipient"
import { RecipientRepository } from "@outreach/domain/recipients/RecipientRepository"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { OrganizationRepository } from "@outreach/postgres/organizations/OrganizationRepository"
import { effectTest } from "@outreach/testing/effectTest"
import { inTransaction, whileOpen } from "@outreach/testing/inTransaction"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"

const run = runOnDatabase()
const test = effectTest(run)

const organization = Effect.gen(function* () {
  return yield* (yield* OrganizationRepository).create(yield* createIdentifier("organization"), "Acme")
})

describe("commitTimestamp", () => {
  it("dies outside a transaction", async () => {
    await expect(run(Effect.flatMap(organization, ({ id }) => commitTimestamp(id)))).rejects.toThrow(
      "outside a transaction",
    )
  })

  test("gives strictly increasing stamps, within a transaction and from one to the next", function* () {
    const { id } = yield* organization
    const twice = inTransaction(Effect.all([commitTimestamp(id), commitTimestamp(id)]))
    const stamps = (yield* Effect.forEach(Array.from({ length: 50 }), () => twice)).flat()
    expect(stamps).toEqual([...new Set(stamps)].sort())
  })

  test("goes on from its last stamp when the database's own clock is behind it", function* () {
    const sql = yield* SqlClient.SqlClient
    const { id } = yield* organization
    yield* sql`update organization_clock set last = '2999-12-31T23:59:59.999998Z' where organization_id = ${id}`
    expect(yield* inTransaction(commitTimestamp(id))).toBe("2999-12-31T23:59:59.999999Z")
    expect(yield* inTransaction(commitTimestamp(id))).toBe("3000-01-01T00:00:00.000000Z")
  })

  test("leaves the other organizations' clocks alone", function* () {
    const [ours, theirs] = [yield* organization, yield* organization]
    // Were there one clock for all, the second transaction would wait for the first for ever.
    const theirStamp = yield* whileOpen(commitTimestamp(ours.id), () => inTransaction(commitTimestamp(theirs.id)))
    expect(theirStamp).toMatch(/Z$/)
  })

  test("lets a poller that follows it lose nothing to concurrent writers", function* () {
    const recipients = yield* RecipientRepository
    const { organization, campaign } = yield* seedCampaign({ recipients: 0 })
    const organizationId = organization.id
    const written: Array<string> = []

    const write = (batch: number) =>
      Effect.gen(function* () {
        const candidates = yield* Effect.forEach(Array.from({ length: 1 + (batch % 7) }), (_, i) =>
          Effect.gen(function* () {
            const id = yield* createIdentifier("recipient")
            const n = batch * 10 + i
            return { id, token: yield* randomBase62(6), npi: npi(n), email: email(n) }
          }),
        )
        const registrations = yield* addRecipients(campaign.id, candidates)
        written.push(...candidates.filter((_, i) => registrations[i] === "registered").map(({ id }) => id))
      })
    const writers = yield* Effect.forkChild(
      Effect.forEach(Array.from({ length: 150 }), (_, batch) => write(batch), { concurrency: 6, discard: true }),
    )

    const seen: Array<string> = []
    let from: Parameters<typeof recipients.page>[1] = { since: fromUnixMillis(0) }
    for (;;) {
      const over = writers.pollUnsafe() !== undefined
      const page: ReadonlyArray<Recipient> = yield* recipients.page(organizationId, from, 3)
      seen.push(...page.map(({ id }) => id))
      const last = page.at(-1)
      if (last !== undefined) from = { after: last }
      else if (over) break
    }
    yield* Fiber.join(writers)
    expect(written.length).toBeGreaterThan(400)
    expect(seen).toHaveLength(written.length)
    expect(new Set(seen)).toEqual(new Set(written))
  })
})
