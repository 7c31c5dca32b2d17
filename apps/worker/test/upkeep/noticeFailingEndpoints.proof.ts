import { EventEmitter, once } from "node:events"
import { OrganizationRepository } from "@outreach/domain/organizations/OrganizationRepository"
import { EmailAddress } from "@outreach/domain/recipients/EmailAddress"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { until } from "@outreach/testing/until"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"

const { url, run, query } = journey()

/** Seeds an endpoint that failed for five days, with an organization that was notified twice, next to a healthy endpoint. */
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

it("a notice about a failing endpoint is repeated at most once, with its Message-ID, if the worker is killed before it is settled", async () => {
  const endpointId = await run(seed)
  const steps = new EventEmitter()
  let isHeld = true
  const mail = await mailServer(undefined, async () => {
    if (isHeld) await once(steps, "killed")
  })
  const stateOf = () =>
    query<{ pending: number }>(
      (sql) => sql`
        select enabled, disabled_reason, notices, cardinality(notice_to) as pending
        from endpoint_readers join webhook_endpoints on id = endpoint_id where endpoint_id = ${endpointId}`,
    )
  const first = await startWorker(url(), { SMTP_URL: mail.url })
  await until(mail, ({ messages }) => messages.length === 1)
  await first.kill()
  isHeld = false
  steps.emit("killed")
  const disabled = { enabled: false, disabled_reason: "failing", notices: 3 }
  expect(await stateOf()).toEqual([{ ...disabled, pending: 1 }])

  // Half an hour later.
  await query((sql) => sql`update endpoint_readers set notice_due_at = notice_due_at - interval '30 minutes'`)
  const second = await startWorker(url(), { SMTP_URL: mail.url })
  await eventually(stateOf, ([row]) => row?.pending === 0)
  expect(await stateOf()).toEqual([{ ...disabled, pending: 0 }])
  expect(mail.messages).toHaveLength(2)
  const ids = mail.messages.map(({ text }) => /^Message-ID:\s+(\S+)/m.exec(text)?.[1])
  expect(ids[1]).toBe(ids[0])
  expect(mail.messages[1]!.text).toContain(`Subject: Webhook endpoint ${endpointId} was disabled`)
  expect(`${first.text}${second.text}`).not.toMatch(/ann@acme|(?<!"port":)\b42501\b/)
})
