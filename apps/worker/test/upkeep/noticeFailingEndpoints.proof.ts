import { EventEmitter, once } from "node:events"
import { OrganizationRepository } from "@outreach/domain/organizations/OrganizationRepository"
import { EmailAddress } from "@outreach/domain/recipients/EmailAddress"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/eventually"
import { listen } from "@outreach/testing/listen"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, type Layer } from "effect"
import { SqlClient } from "effect/sql"
import { SMTPServer } from "smtp-server"
import { describe, expect, it } from "vitest"
import { startWorker } from "../startWorker.ts"

const url = migratedDatabase()
const onDatabase = <A, E>(effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof adaptersFor>>>) =>
  Effect.runPromise(Effect.provide(effect, adaptersFor(url())))

/** Seeds an endpoint to which every call has failed for five days, of which its organization was notified twice, beside one that answers. */
const seed = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { endpoint, organization } = yield* seedCampaign({ recipients: 0 })
  const { endpoint: other } = yield* seedCampaign({ recipients: 0 })
  yield* OrganizationRepository.use(({ setContacts }) =>
    setContacts(organization.id, [EmailAddress.make("ann@acme.example")]),
  )
  yield* sql`
    update endpoint_readers set failing_since = now() - interval '121 hours', notices = 2, noticed_at = now() - interval '49 hours'
    where endpoint_id = ${endpoint.id}`
  const now = sql`date_bin('5 minutes', clock_timestamp(), 'epoch')`
  yield* sql`
    insert into delivery_outcomes (organization_id, endpoint_id, at, delivered, server_errors)
    values (${organization.id}, ${endpoint.id}, ${now}, 0, 5), (${other.organizationId}, ${other.id}, ${now} - interval '5 minutes', 5, 0)`
  return endpoint.id
})

const PHASES = ["once it has taken the notice", "once the notice was sent, before it is settled"] as const

describe("a worker that is killed while it tells of a failing endpoint", () => {
  it.each(PHASES)("%s, loses no notice, and repeats it at most once", async (phase) => {
    const endpointId = await onDatabase(seed)
    const steps = new EventEmitter()
    const [reached, killed] = [once(steps, "reached"), once(steps, "killed")]
    const messages: Array<string> = []
    let isHeld = true
    const hold = async (at: (typeof PHASES)[number]) => {
      if (!isHeld || at !== phase) return
      isHeld = false
      steps.emit("reached")
      await killed
    }
    const server = new SMTPServer({
      disabledCommands: ["AUTH", "STARTTLS"],
      onRcptTo: (_, __, done) => void hold(PHASES[0]).then(() => done()),
      onData: (stream, _, done) => {
        const read = async () => {
          messages.push(Buffer.concat(await stream.toArray()).toString())
          await hold(PHASES[1])
        }
        read().then(() => done(), done)
      },
    })
    server.on("error", () => {})
    const settings = { SMTP_URL: `smtp://127.0.0.1:${await listen(server.server)}` }
    const stateOf = () =>
      onDatabase(
        SqlClient.SqlClient.use(
          (sql) => sql`
            select enabled, disabled_reason, notices, cardinality(notice_to) as pending
            from endpoint_readers join webhook_endpoints on id = endpoint_id where endpoint_id = ${endpointId}`,
        ),
      )

    const first = await startWorker(url(), settings)
    await reached
    first.child.kill("SIGKILL")
    await first.ended
    steps.emit("killed")
    const disabled = { enabled: false, disabled_reason: "failing", notices: 3 }
    expect(await stateOf()).toEqual([{ ...disabled, pending: 1 }])

    // Half an hour later.
    await onDatabase(
      SqlClient.SqlClient.use(
        (sql) => sql`update endpoint_readers set notice_due_at = notice_due_at - interval '30 minutes'`,
      ),
    )
    const second = await startWorker(url(), settings)
    await eventually(stateOf, ([row]) => row?.["pending"] === 0)
    expect(await stateOf()).toEqual([{ ...disabled, pending: 0 }])
    const ids = messages.map((text) => /^Message-ID:\s+(\S+)/m.exec(text)?.[1])
    expect(ids).toEqual(Array.from({ length: phase === PHASES[0] ? 1 : 2 }, () => ids[0]))
    expect(messages.at(-1)).toContain(`Subject: Webhook endpoint ${endpointId} was disabled`)
    expect(`${first.text}${second.text}`).not.toMatch(/ann@acme|\b42501\b/)
    console.log(`killed ${phase}: ${ids.length} ${ids.length === 1 ? "e-mail" : "e-mails"}, one Message-ID, told`)
  })
})
