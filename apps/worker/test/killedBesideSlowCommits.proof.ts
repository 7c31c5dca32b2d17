import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { partner } from "@outreach/testing/partner"
import { describe, expect, it } from "vitest"
import { journey } from "./journey.ts"
import { startWorker } from "./startWorker.ts"

const { url, launch, kill, query } = journey()

const RECIPIENTS = 400
const KILLS = 3

describe("a worker that is killed beside a database that takes a second for a commit", () => {
  it("has at most two messages for each SMTP connection accepted and not recorded", async () => {
    const mail = await mailServer()
    // A deferred trigger runs in the commit itself; one second for each transaction that records a message.
    await query(
      (sql) => sql`
        create function commit_slowly() returns trigger language plpgsql as $$
        begin
          if current_setting('test.slept', true) is distinct from txid_current()::text then
            perform set_config('test.slept', txid_current()::text, true), pg_sleep(1);
          end if;
          return null;
        end $$`,
    )
    await query(
      (sql) => sql`
        create constraint trigger slow_commit after update of sent_at on recipients deferrable initially deferred
        for each row execute function commit_slowly()`,
    )
    const { campaign } = await launch(await partner(), RECIPIENTS)
    const sent = async () =>
      (await query((sql) => sql`select from recipients where campaign_id = ${campaign.id} and sent_at is not null`))
        .length
    const accepted = () => new Set(mail.messages.map(({ to }) => to[0])).size

    const repeated: number[] = []
    for (let time = 1; time <= KILLS; time++) {
      const [before, connectionsBefore] = [accepted(), mail.connections()]
      const worker = await startWorker(url(), { SMTP_URL: mail.url, LOG_LEVEL: "info" })
      // By then commits are what it waits for.
      await eventually(accepted, (count) => count >= before + 60, 120_000)
      await kill(worker)
      const connections = mail.connections() - connectionsBefore
      const unrecorded = accepted() - (await sent())
      repeated.push(unrecorded)
      process.stderr.write(`killed ${time}: ${unrecorded} accepted and not recorded, ${connections} connections\n`)
      expect(connections).toBeLessThanOrEqual(20)
      expect(unrecorded).toBeLessThanOrEqual(2 * connections)
      // What was repeated is recorded before the next kill.
      await query((sql) => sql`update messages set lease_until = clock_timestamp() where lease_until is not null`)
      const next = await startWorker(url(), { SMTP_URL: mail.url, LOG_LEVEL: "info" })
      const toRecord = accepted()
      await eventually(sent, (count) => count >= toRecord, 240_000)
      next.child.kill("SIGTERM")
      await next.ended
    }
    expect(Math.max(...repeated)).toBeGreaterThan(0)
  })
})
