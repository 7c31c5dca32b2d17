/**
 * Stores every outreach event in a SQLite file, and polls every 15 minutes: `OUTREACH_KEY=… OUTREACH_URL=… node poller.ts events.db`.
 * With `--once` it stops after reading the whole feed.
 */
import { DatabaseSync } from "node:sqlite"
import { parseArgs } from "node:util"
import { createClient } from "@outreach/client"
import { sqliteCheckpointStore } from "@outreach/client/checkpoints"

const { OUTREACH_KEY: apiKey, OUTREACH_URL: baseUrl } = process.env
if (apiKey === undefined || baseUrl === undefined) throw new Error("OUTREACH_KEY or OUTREACH_URL is not set")
const { values, positionals } = parseArgs({ options: { once: { type: "boolean" } }, allowPositionals: true })

const database = new DatabaseSync(positionals[0] ?? "events.db")
database.exec("create table if not exists events (event_id text primary key, body text not null)")
const insertEvent = database.prepare("insert into events values (?, ?) on conflict do nothing")
const checkpoints = sqliteCheckpointStore(database)
const checkpoint = checkpoints.load() ?? { since: "2026-01-01T00:00:00Z" }

const client = createClient({ apiKey, baseUrl })
for await (const batch of client.sync.events({ checkpoint, everySeconds: values.once ? null : 900 })) {
  // Events and checkpoint are stored in one transaction. A crash neither loses nor repeats an event.
  database.exec("begin")
  for (const event of batch.events) insertEvent.run(event.event_id, JSON.stringify(event))
  checkpoints.save(batch.checkpoint)
  database.exec("commit")
  console.log(`${batch.events.length} events stored`)
}
