import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import type { EndpointId } from "@outreach/domain/Identifier"
import { deliveriesTo } from "@outreach/testing/deliveriesTo"
import type { partner } from "@outreach/testing/partner"
import { migratedDatabase, runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect, Schedule } from "effect"
import type { startWorker } from "./startWorker.ts"

/** A separate database for the test file, with an operator's actions. */
export const journey = () => {
  const url = migratedDatabase()
  const run = runOnDatabase({ url })

  return {
    url,
    run,
    /** Seeds a campaign for a partner and schedules it. */
    launch: (to: Awaited<ReturnType<typeof partner>>, recipients: number) =>
      run(function* () {
        const seeded = yield* seedCampaign({ recipients, endpointUrl: to.url })
        to.trust(seeded.secret)
        yield* scheduleCampaign(seeded.campaign.id)
        return seeded
      }),
    deliveries: (endpointId: EndpointId) => run(deliveriesTo(endpointId)),
    /** Takes all endpoints as another worker would after their owner's silence. Returns the function that gives them back. */
    takeAll: () =>
      run(function* () {
        const leases = yield* DeliveryLeases
        const thief = crypto.randomUUID()
        yield* leases.heartbeat(thief, 30)
        const lapse = sql`
          update delivery_workers set alive_until = clock_timestamp() - interval '1 second' where token <> ${thief}::uuid`
        // A worker that renews its lease in the meantime keeps its endpoints.
        yield* Effect.andThen(lapse, leases.acquire(thief, 1000)).pipe(
          Effect.repeat({ until: ({ taken }) => taken > 0, schedule: Schedule.spaced("20 millis") }),
        )
        return () => run(leases.leave(thief))
      }),
    /** Kills a worker, closes its sessions, and waits for their end: one may be about to commit a claim. */
    kill: async ({ child, ended }: Awaited<ReturnType<typeof startWorker>>) => {
      child.kill("SIGKILL")
      await ended
      await run(sql`
        select pg_terminate_backend(pid, 60000) from pg_stat_activity
        where application_name like 'outreach-worker/%' and datname = current_database()`)
    },
    /** Expires the leases of messages, and schedules the turns of their campaigns. */
    endLeases: async () => {
      await run(sql`update messages set lease_until = clock_timestamp() where lease_until is not null`)
      await run(sql`update campaign_turns set next_at = clock_timestamp()`)
      await run(sql`update organization_turns set next_at = clock_timestamp()`)
    },
  }
}
