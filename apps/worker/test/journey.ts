import { commandCampaign } from "@outreach/domain/campaigns/Campaigns"
import { DeliveryLedger } from "@outreach/domain/deliveries/DeliveryLedger"
import { adaptersFor } from "@outreach/postgres/test/adaptersFor"
import { migratedDatabase } from "@outreach/postgres/test/migratedDatabase"
import { seedCampaign } from "@outreach/postgres/test/seedCampaign"
import { Effect, type Layer, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, beforeAll } from "vitest"
import type { partner } from "./partner.ts"

export type Services = Layer.Success<ReturnType<typeof adaptersFor>>

/** A database of the test file's own, and what an operator does in it. */
export const journey = () => {
  const url = migratedDatabase()
  let runtime: ManagedRuntime.ManagedRuntime<Services, unknown>
  beforeAll(() => {
    runtime = ManagedRuntime.make(adaptersFor(url()))
  })
  afterAll(() => runtime.dispose())
  const run = <A, E>(effect: Effect.Effect<A, E, Services>): Promise<A> => runtime.runPromise(effect)

  return {
    url,
    run,
    /** Seeds a campaign for a partner and schedules it. */
    launch: (to: Awaited<ReturnType<typeof partner>>, recipients: number) =>
      run(
        Effect.gen(function* () {
          const seeded = yield* seedCampaign({ recipients, endpointUrl: to.url })
          to.trust(seeded.secret)
          yield* commandCampaign(seeded.campaign.id, "schedule")
          return seeded
        }),
      ),
    /** Lists the deliveries to an endpoint. */
    deliveries: (endpointId: string) =>
      run(
        Effect.gen(function* () {
          return yield* (yield* DeliveryLedger).list({ endpointId: endpointId as `whe_${string}`, limit: 1000 })
        }),
      ),
    /** Lists how the attempts at a delivery went. */
    attempts: (deliveryId: string) =>
      run(
        Effect.gen(function* () {
          const { attempts } = yield* (yield* DeliveryLedger).find(deliveryId as `dlv_${string}`)
          return attempts.map(({ number, outcome, status }) => ({ number, outcome, status }))
        }),
      ),
    /** Lets every lease of an endpoint's deliveries end, as the passing of 30 seconds would. */
    endLeases: (endpointId: string) =>
      run(
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          yield* sql`update deliveries set lease_until = clock_timestamp() where endpoint_id = ${endpointId}`
        }),
      ),
    query: <Row extends object>(statement: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<Row>, unknown>) =>
      run(Effect.flatMap(SqlClient.SqlClient, statement)),
  }
}
