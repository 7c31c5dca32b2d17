import { describe, expect, it } from "@effect/vitest"
import type { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { effectTest } from "@outreach/testing/effectTest"
import { publishSent } from "@outreach/testing/publishTogether"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const url = migratedDatabase()
/** Runs an effect as a worker of its own would, which remembers nothing of others. */
const run = <A, E>(
  effect: Effect.Effect<A, E, DeliveryLeases | SigningSecretRepository | Effect.Services<typeof seeded>>,
) => Effect.runPromise(Effect.provide(effect, adaptersFor(url())))
const test = effectTest(run)

/** Seeds an organization whose first secret is over. */
const seeded = Effect.gen(function* () {
  const { organization, campaign } = yield* seedCampaign({ recipients: 0 })
  yield* rotateSecret(organization.id, 0)
  yield* publishSent(campaign, 20)
  return organization.id
})
const claimUpTo = (limit: number) => Effect.flatMap(workerOn(), ({ take }) => take(limit))
const claim = claimUpTo(1)

describe("SigningSecretRepositoryPg.list", () => {
  test("lists secrets newest first, with when they end and were last used, and without themselves", function* () {
    const organizationId = yield* seeded
    const { list } = yield* SigningSecretRepository
    const [second, first, ...others] = yield* list({ organizationId })
    expect(others).toEqual([])
    expect(first).toMatchObject({ organizationId, expiresAt: expect.any(String), lastUsedAt: null })
    expect(second).toEqual({
      organizationId,
      id: expect.stringMatching(/^sec_[0-9a-f]{32}$/),
      endpointId: null,
      createdAt: expect.any(String),
      expiresAt: null,
      lastUsedAt: null,
      lastVerifiedAt: null,
    })
    yield* claimUpTo(100)
    expect(yield* list({ organizationId })).toEqual([{ ...second, lastUsedAt: expect.any(String) }, first])
  })

  it("notes the use of a secret once in five minutes, over all workers, and waits for nobody", async () => {
    const organizationId = await run(seeded)
    const used = Effect.flatMap(SigningSecretRepository, ({ list }) =>
      Effect.map(list({ organizationId }), ([{ lastUsedAt } = { lastUsedAt: null }]) => lastUsedAt),
    )
    const usedAgo = (interval: string) =>
      Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`
          update signing_secrets set last_used_at = clock_timestamp() - ${interval}::interval
          where organization_id = ${organizationId} and expires_at is null`,
      )
    const claimAndLook = Effect.andThen(claim, used)
    const before = await run(Effect.andThen(usedAgo("299 seconds"), used))
    // Each a worker of its own, and each claiming twice.
    expect(await run(Effect.andThen(claim, claimAndLook))).toBe(before)
    expect(await run(Effect.andThen(claim, claimAndLook))).toBe(before)
    const old = await run(Effect.andThen(usedAgo("301 seconds"), used))
    const noted = await run(claimAndLook)
    expect(noted! > old!).toBe(true)

    await run(usedAgo("1 hour"))
    const blocked = Effect.flatMap(SqlClient.SqlClient, (sql) =>
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`select from signing_secrets for update`
          return yield* Effect.promise(() => run(claim))
        }),
      ),
    )
    expect(await run(blocked)).toHaveLength(1)
  })
})
