import type { Checkpoint, Client } from "@outreach/client"
import { Effect, Schedule } from "effect"
import type { Pool } from "pg"

/** A real partner would pull every 15 minutes. The sandbox pulls more often, so that its user need not wait. */
const EVERY_SECONDS = 5

/**
 * Reconciles with the feed until interrupted. Stores the events that did not arrive by webhook, and the checkpoint in the same
 * statement. Calls `onPulled` with the number of events of each batch.
 */
export const pullEvents = (pool: Pool, client: Client, onPulled: (events: number) => void): Effect.Effect<never> =>
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
      onPulled(batch.events.length)
    }
  }).pipe(
    // After any error, pulling resumes from the last stored checkpoint.
    Effect.ignore,
    Effect.repeat(Schedule.spaced("1 second")),
    Effect.andThen(Effect.never),
  )
