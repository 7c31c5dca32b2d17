import type { Checkpoint, Client } from "@outreach/client"
import { Effect, Schedule } from "effect"
import type { Pool } from "pg"

/** A partner would look every 15 minutes; whoever tries the sandbox does not wait as long. */
const EVERY_SECONDS = 5

/** Reconciles as a partner does until interrupted: stores the events that no webhook has brought yet, and in the same statement how far it is. */
export const pullEvents = (pool: Pool, client: Client, handedOut: (events: number) => void): Effect.Effect<never> =>
  Effect.tryPromise(async (signal) => {
    const { rows } = await pool.query<{ checkpoint: Checkpoint }>(
      "select checkpoint from sample_partner.reconciliation",
    )
    const { checkpoint } = rows[0]!
    for await (const batch of client.sync.events({ checkpoint, everySeconds: EVERY_SECONDS, signal })) {
      await pool.query(
        `with stored as (
           insert into sample_partner.events (event_id, event_type, body, copies)
           select *, 0 from unnest($1::text[], $2::text[], $3::text[])
           on conflict (event_id) do nothing
         )
         update sample_partner.reconciliation set checkpoint = $4, events = events + $5`,
        [
          batch.events.map(({ event_id }) => event_id),
          batch.events.map(({ event_type }) => event_type),
          batch.events.map((event) => JSON.stringify(event)),
          JSON.stringify(batch.checkpoint),
          batch.events.length,
        ],
      )
      handedOut(batch.events.length)
    }
  }).pipe(
    // Whatever ends it, it begins again at the checkpoint that was stored last.
    Effect.ignore,
    Effect.repeat(Schedule.spaced("1 second")),
    Effect.andThen(Effect.never),
  )
