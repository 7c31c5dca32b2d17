import type { Checkpoint, Client } from "@outreach/client"
import { createWebhookVerifier, type WebhookEvent, WebhookVerificationError } from "@outreach/webhook-verifier"
import { webhookHandler } from "@outreach/webhook-verifier/node"
import { Effect, Schedule } from "effect"
import { Pool } from "pg"
import { sendPage } from "./page.ts"
import { type PartnerCounts, partnerPage, type StoredEvent } from "./partnerPage.ts"
import { serveHttp } from "./serveHttp.ts"
import { countAccepted, simulateClinicians, storeVisitors, VISITORS } from "./simulateClinicians.ts"

/** The maximum of events in the JSON and on the page. */
const MAX_LISTED = 2000
const MAX_ON_PAGE = 100

/** The partner's own tables. Its page lists the newest events, and counts the events that only the feed brought. */
const SCHEMA = `
  create schema if not exists sample_partner;
  create table if not exists sample_partner.events (
    event_id text primary key,
    event_type text not null,
    body text not null,
    copies integer not null default 1,
    received_at timestamptz not null default clock_timestamp()
  );
  create index if not exists events_by_receipt on sample_partner.events (received_at desc, event_id);
  create index if not exists events_by_feed_alone on sample_partner.events (event_id) where copies = 0;
  create table if not exists sample_partner.reconciliation (
    checkpoint jsonb not null,
    events integer not null,
    one boolean primary key default true check (one)
  );
  insert into sample_partner.reconciliation (checkpoint, events) values ('{"since":"2020-01-01T00:00:00Z"}', 0)
  on conflict do nothing;
  ${VISITORS}`

/** Reads the counts of earlier runs. */
const readCounts = async (pool: Pool): Promise<PartnerCounts> => {
  const stored = await pool.query<{ event_type: string; count: number; repeated: number }>(`
    select event_type, count(*)::int as count, sum(copies - 1)::int as repeated
    from sample_partner.events where copies > 0 group by event_type`)
  const feed = await pool.query<{ events: number }>("select events from sample_partner.reconciliation")
  return {
    counts: Object.fromEntries(stored.rows.map(({ event_type, count }) => [event_type, count])),
    duplicates: stored.rows.reduce((sum, { repeated }) => sum + repeated, 0),
    rejected: 0,
    reconciled: feed.rows[0]!.events,
    told: await countAccepted(pool),
  }
}

/**
 * Starts the sample partner until the scope closes. It verifies each webhook, stores its event once in its own schema, and acknowledges it.
 *
 * A POST to `/webhooks` is a delivery. A GET lists the received events, newest first; clients other than browsers get JSON. Repeated events are
 * only counted. `pull` reconciles with the feed until interrupted, and `simulate` sends webhooks about accounts, learners and completers.
 */
export const startSamplePartner = Effect.fnUntraced(function* (options: {
  readonly databaseUrl: string
  readonly host: string
  readonly port: number
  /** The partner's signing secrets. */
  readonly secrets: () => readonly string[]
  /** The link to the partner's own view of the console. */
  readonly consoleUrl: () => string
  /** Called with the first event that is received and verified in this run. */
  readonly onFirstWebhook: (event: WebhookEvent) => void
}) {
  const pool = yield* Effect.acquireRelease(
    Effect.promise(async () => {
      const pool = new Pool({ connectionString: options.databaseUrl, max: 4, application_name: "sample-partner" })
      // The pool replaces a lost connection at the next query.
      pool.on("error", () => {})
      await pool.query(SCHEMA)
      return pool
    }),
    (pool) => Effect.promise(() => pool.end()),
  )
  // The counts are kept in memory from here on, so that reading them costs the same at any number of events.
  const counts = yield* Effect.promise(() => readCounts(pool))

  let isFirst = true
  const store = async (event: WebhookEvent) => {
    const type = event.event_type
    if (isFirst) options.onFirstWebhook(event)
    isFirst = false
    await storeVisitors(pool, event)
    const { rows } = await pool.query<{ copies: number }>(
      `insert into sample_partner.events (event_id, event_type, body) values ($1, $2, $3)
       on conflict (event_id) do update set copies = events.copies + 1 returning copies`,
      [event.event_id, type, JSON.stringify(event)],
    )
    if (rows[0]!.copies > 1) counts.duplicates += 1
    else counts.counts[type] = (counts.counts[type] ?? 0) + 1
  }
  // An event that cannot be stored is not acknowledged, so the service sends it again.
  const receive = webhookHandler(
    // The secrets are read for each request, because they are created after this server, whose URL the endpoint needs.
    { verify: (request) => createWebhookVerifier({ secrets: options.secrets() }).verify(request) },
    store,
    {
      onError: (error) => {
        if (error instanceof WebhookVerificationError) counts.rejected += 1
      },
    },
  )

  const listJson = async () => {
    // Read first, so that every event that is counted is listed.
    const current = structuredClone(counts)
    const { rows } = await pool.query<{ body: string }>(
      "select body from sample_partner.events order by received_at desc, event_id limit $1",
      [MAX_LISTED],
    )
    return { ...current, events: rows.map((row) => JSON.parse(row.body) as unknown) }
  }

  const renderPage = async () => {
    const { rows } = await pool.query<StoredEvent>(
      `select event_type, copies, received_at, body from sample_partner.events
       order by received_at desc, event_id limit $1`,
      [MAX_ON_PAGE],
    )
    const alone = await pool.query<{ count: number }>(
      "select count(*)::int as count from sample_partner.events where copies = 0",
    )
    return partnerPage(counts, rows, { byFeedAlone: alone.rows[0]!.count, consoleUrl: options.consoleUrl() })
  }

  const portSetting = "partner_port in keys.json and the endpoint's URL"
  const port = yield* serveHttp(options.host, options.port, portSetting, async (request, response) => {
    try {
      if (request.method === "POST") return await receive(request, response)
      if (request.url === "/" && request.headers.accept?.includes("text/html")) {
        return sendPage(response, await renderPage())
      }
      const body = JSON.stringify(await listJson())
      return response.writeHead(200, { "content-type": "application/json" }).end(body)
    } catch {
      return response.writeHead(503).end()
    }
  })
  return {
    port,
    url: `http://${options.host}:${port}/`,
    webhooksUrl: `http://${options.host}:${port}/webhooks`,
    counts,
    simulate: (client: Client, endpointId: string) =>
      simulateClinicians(pool, {
        client,
        endpointId,
        secrets: options.secrets(),
        onAccepted: (stage) => {
          counts.told[stage] = (counts.told[stage] ?? 0) + 1
        },
      }),
    pull: (client: Client) =>
      pullEvents(pool, client, (count) => {
        counts.reconciled += count
      }),
  }
})

/** A real partner would pull every 15 minutes. The sandbox pulls more often, so that its user need not wait. */
const EVERY_SECONDS = 5

/**
 * Reconciles with the feed until interrupted. Stores the events that did not arrive by webhook, and the checkpoint in the same
 * statement. Calls `onPulled` with the number of events of each batch.
 */
const pullEvents = (pool: Pool, client: Client, onPulled: (events: number) => void): Effect.Effect<never> =>
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
