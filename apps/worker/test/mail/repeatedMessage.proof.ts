import { describe, expect, it } from "@effect/vitest"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { partner } from "@outreach/testing/partner"
import { Deferred, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"

const { url, run, launch, kill, endLeases, query } = journey()

/** Keeps whoever would settle a message waiting, from when it is called until it is told to let go. */
const holdMessages = () => {
  const held = Deferred.makeUnsafe<void>()
  const letGo = Deferred.makeUnsafe<void>()
  const over = run(
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`select from messages for update`
          yield* Deferred.succeed(held, undefined)
          yield* Deferred.await(letGo)
        }),
      ),
    ),
  )
  return {
    held: run(Deferred.await(held)),
    letGo: async () => {
      await run(Deferred.succeed(letGo, undefined))
      await over
    },
  }
}

describe("a message whose worker is killed between the server's 250 and its own record", () => {
  it("is sent once more with the same Message-ID, and recorded once", async () => {
    const to = await partner()
    let hold: ReturnType<typeof holdMessages> | undefined
    const mail = await mailServer(undefined, async () => {
      hold ??= holdMessages()
      await hold.held
    })
    const { campaign } = await launch(to, 1)
    const first = await startWorker(url(), { SMTP_URL: mail.url })
    // The worker has heard the 250 once its settlement waits for the row.
    const waiting = () =>
      query(
        (sql) => sql`
        select from pg_stat_activity
        where application_name like 'outreach-worker/%' and datname = current_database() and wait_event_type = 'Lock' and query ilike '%delete from messages%'`,
      )
    await eventually(waiting, ({ length }) => length === 1)
    await kill(first)
    await hold?.letGo()
    expect(mail.messages).toHaveLength(1)
    expect(await query((sql) => sql`select sent_at from recipients where campaign_id = ${campaign.id}`)).toEqual([
      { sent_at: null },
    ])

    await endLeases()
    await startWorker(url(), { SMTP_URL: mail.url })
    const sent = () => to.received.filter(({ event }) => event.event_type === "outreach.email_sent")
    await eventually(sent, ({ length }) => length === 1)
    expect(mail.messages).toHaveLength(2)
    const ids = mail.messages.map(({ text }) => /^Message-ID: (.*)$/m.exec(text)?.[1])
    expect(ids[0]).toMatch(/^<rcp_[0-9a-f]{32}@acme\.test>$/)
    expect(ids[1]).toBe(ids[0])
    expect(mail.messages[1]?.from).toBe(mail.messages[0]?.from)
    expect(sent()).toHaveLength(1)
    expect(await query((sql) => sql`select from messages`)).toEqual([])
  })
})
