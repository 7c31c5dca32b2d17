import { EndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { judgeFailingEndpoints } from "@outreach/domain/deliveries/FailingEndpoints"
import type { EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { OrganizationRepository } from "@outreach/domain/organizations/Organizations"
import { EmailAddress } from "@outreach/domain/recipients/Clinician"
import { SmtpTransport } from "@outreach/mail/SmtpTransport"
import { mailServer } from "@outreach/testing/mailServer"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { fragment, sql } from "@outreach/testing/sql"
import { Effect, Redacted } from "effect"
import { beforeEach, describe, expect } from "vitest"
import { type NoticeOptions, sendNotices } from "../../src/upkeep/noticeFailingEndpoints.ts"
import { mailTo } from "../mail/testMail.ts"

const { run, test } = testsOnDatabase()
// Each test has only its own endpoints.
beforeEach(() =>
  run(function* () {
    yield* sql`delete from delivery_outcomes`
    yield* sql`update endpoint_readers set failing_since = null, notice_to = '{}'`
  }),
)

const HOURS = { notice: 24, reminder: 72, disable: 120 }
const judge = judgeFailingEndpoints(HOURS)
const OPTIONS: NoticeOptions = {
  hours: HOURS,
  consoleUrl: "https://console.test",
  sender: mailTo("").sender,
}
/** Sends the pending notices to a mail server. */
const sendOver = (url: string) => Effect.provide(sendNotices(OPTIONS), SmtpTransport(Redacted.make(url)))

interface Calls {
  readonly delivered?: number
  readonly serverErrors?: number
  readonly noResponses?: number
  readonly deadLetters?: number
}

/** Counts calls to an endpoint as workers do, some minutes ago. */
const count = Effect.fnUntraced(function* (endpointId: EndpointId, calls: Calls, minutesAgo = 0) {
  const { delivered = 0, serverErrors = 0, noResponses = 0, deadLetters = 0 } = calls
  yield* sql`
    insert into delivery_outcomes as held (organization_id, endpoint_id, at, delivered, server_errors, no_responses, dead_letters)
    select organization_id, id, date_bin('5 minutes', clock_timestamp() - make_interval(mins => ${minutesAgo}::int), 'epoch'),
      ${delivered}::int, ${serverErrors}::int, ${noResponses}::int, ${deadLetters}::int
    from webhook_endpoints where id = ${endpointId}
    on conflict (endpoint_id, at, seconds, organization_id) do update set delivered = held.delivered + excluded.delivered`
  yield* sql`
    insert into failure_groups as held (organization_id, id, endpoint_id, outcome, opened_at, last_at)
    select organization_id, replace(id, 'whe', 'fgr'), id, 'server_error', clock_timestamp(), clock_timestamp()
    from webhook_endpoints where id = ${endpointId} and ${serverErrors + noResponses > 0}::boolean
    on conflict (id, organization_id) do update set opened_at = excluded.opened_at, closed_at = null where held.closed_at is not null`
})

/** Moves all timestamps of the rule into the past. */
const pass = Effect.fnUntraced(function* (hours: number) {
  const by = fragment`make_interval(hours => ${hours}::int)`
  // In two steps, so that no row takes the time of a row that is moved later.
  yield* sql`update delivery_outcomes set at = at - interval '100 years' - ${by}`
  yield* sql`update delivery_outcomes set at = at + interval '100 years'`
  yield* sql`
    update endpoint_readers set failing_since = failing_since - ${by}, noticed_at = noticed_at - ${by}, notice_due_at = notice_due_at - ${by}`
})

const contactsOf = (organizationId: OrganizationId, ...contacts: ReadonlyArray<string>) =>
  OrganizationRepository.use(({ setContacts }) =>
    setContacts(
      organizationId,
      contacts.map((each) => EmailAddress.make(each)),
    ),
  )

/** An endpoint that starts to fail now, of an organization with contacts, next to a healthy endpoint of another one. */
const seed = Effect.fnUntraced(function* (...contacts: ReadonlyArray<string>) {
  const { endpoint, organization } = yield* seedCampaign({ recipients: 0 })
  const { endpoint: other } = yield* seedCampaign({ recipients: 0 })
  yield* contactsOf(organization.id, ...contacts)
  yield* count(other.id, { delivered: 1 }, 5)
  yield* count(endpoint.id, { serverErrors: 3, noResponses: 1, deadLetters: 2 })
  expect(yield* judge).toEqual([])
  return { endpoint, organization, other }
})

/** Simulates hours in which the endpoint keeps failing, each time after a success of the other one. */
const failOn = Effect.fnUntraced(function* (hours: number, endpoint: EndpointId, other: EndpointId) {
  yield* pass(hours)
  yield* count(other, { delivered: 1 }, 5)
  yield* count(endpoint, { serverErrors: 1 })
})

const stateOf = (endpointId: EndpointId) => EndpointRepository.use(({ find }) => find(endpointId))
const textOf = (mail: { readonly text: string } | undefined) =>
  mail!.text.replaceAll("=\r\n", "").replaceAll("=3D", "=")

describe("an endpoint that fails every call", () => {
  test("is reported after a day and after three, and is disabled after five, each once to every contact", function* () {
    const mail = yield* Effect.promise(() => mailServer())
    const { endpoint, organization, other } = yield* seed("ann@acme.test", "bob@acme.test")
    const round = Effect.gen(function* () {
      const given = yield* judge
      expect(yield* judge).toEqual([])
      yield* sendOver(mail.url)
      yield* sendOver(mail.url)
      return given
    })
    const about = { endpointId: endpoint.id, organizationId: organization.id, contacts: 2 }

    yield* failOn(24, endpoint.id, other.id)
    expect(yield* round).toEqual([{ ...about, notice: "notice" }])
    expect(mail.messages.map(({ to }) => to)).toEqual([["ann@acme.test"], ["bob@acme.test"]])
    const first = textOf(mail.messages[0])
    expect(first).toContain(`Subject: Webhook endpoint ${endpoint.id} is failing`)
    expect(first).toMatch(/^From: Acme Outreach <outreach@acme\.test>\r$/m)
    expect(first).toMatch(/^Auto-Submitted: auto-generated\r$/m)
    expect(first).toMatch(/^Content-Type: text\/plain; charset=utf-8\r$/m)
    expect(first).not.toMatch(/List-Unsubscribe|X-Outreach-Message|Feedback-ID/)
    expect(first).toContain(
      "https://partner.test/webhooks of Acme Health is failing: no call to it has succeeded since",
    )
    expect(first).toContain("Calls that failed: 5")
    expect(first).toContain("- a status from 500 to 599: 4")
    expect(first).toContain("Webhooks given up so far: 2")
    expect(first).toMatch(
      /you are notified again at .* UTC or soon after, and the endpoint is disabled after 120 hours/,
    )
    expect(first).toContain(`Details: https://console.test/endpoints/${endpoint.id}`)

    yield* failOn(49, endpoint.id, other.id)
    expect(yield* round).toEqual([{ ...about, notice: "reminder" }])
    expect(textOf(mail.messages[2])).toMatch(/If all calls continue to fail, it is disabled at .* UTC or soon after/)
    expect((yield* stateOf(endpoint.id)).enabled).toBe(true)

    yield* failOn(49, endpoint.id, other.id)
    expect(yield* round).toEqual([{ ...about, notice: "disable" }])
    expect(yield* stateOf(endpoint.id)).toMatchObject({ enabled: false, disabledReason: "failing", notices: 3 })
    expect(textOf(mail.messages[4])).toContain(`Subject: Webhook endpoint ${endpoint.id} was disabled`)
    yield* failOn(49, endpoint.id, other.id)
    expect(yield* round).toEqual([])
    expect(mail.messages).toHaveLength(6)
    // A repetition would have the same id.
    expect(new Set(mail.messages.map(({ text }) => /^Message-ID:\s+(\S+)/m.exec(text)![1])).size).toBe(3)
    const audited = yield* sql`
      select os_user, command, operator, arguments, objects, organizations, result from audit_log join audit_results on command_id = id`
    expect(audited).toEqual([
      {
        ...{ os_user: "the service", command: "endpoints disable", operator: null, result: "succeeded" },
        arguments: { endpoint: endpoint.id, reason: "failing" },
        objects: [endpoint.id],
        organizations: [organization.id],
      },
    ])
  })

  test("fails since its first failed call, and not since before it was created, enabled or had its address", function* () {
    const { enable, update } = yield* EndpointRepository
    const clock = () =>
      Effect.map(sql<{ now: string }>`select to_json(clock_timestamp()) #>> '{}' as now`, ([row]) => row!.now)
    const [moved, enabled] = [yield* seed(), yield* seed()].map(({ endpoint }) => endpoint)
    const { createdAt, failingSince } = yield* stateOf(moved!.id)
    expect(failingSince! >= createdAt.slice(0, -4)).toBe(true)
    yield* sql`update delivery_outcomes set at = at - interval '10 minutes'`
    yield* update(moved!.id, { url: EndpointUrl.make("https://new.test/") })
    yield* enable(enabled!.id)
    expect(yield* judge).toEqual([])
    for (const each of [moved!, enabled!]) expect((yield* stateOf(each.id)).failingSince).toBe(null)
    const before = Date.parse(yield* clock())
    yield* count(enabled!.id, { serverErrors: 1 })
    expect(yield* judge).toEqual([])
    const since = Date.parse((yield* stateOf(enabled!.id)).failingSince!)
    expect(since >= before && since <= Date.parse(yield* clock())).toBe(true)
  })

  test("is no longer failing after one success, and the next failure starts a new period", function* () {
    const { endpoint, other } = yield* seed("ann@acme.test")
    yield* failOn(23, endpoint.id, other.id)
    yield* count(endpoint.id, { delivered: 1 })
    expect(yield* judge).toEqual([])
    expect(yield* stateOf(endpoint.id)).toMatchObject({ failingSince: null, notices: 0 })
    yield* failOn(2, endpoint.id, other.id)
    expect(yield* judge).toEqual([])
    expect((yield* stateOf(endpoint.id)).failingSince).not.toBe(null)
    yield* failOn(23, endpoint.id, other.id)
    expect(yield* judge).toEqual([])
  })

  test("is not reported while no endpoint responds, nor immediately after one responds again", function* () {
    const { endpoint, other } = yield* seed("ann@acme.test")
    yield* pass(130)
    yield* count(endpoint.id, { noResponses: 9 })
    yield* count(other.id, { noResponses: 9 })
    expect(yield* judge).toEqual([])
    // The other endpoint is called first, because the network works again.
    yield* count(other.id, { delivered: 1 })
    expect(yield* judge).toEqual([])
  })

  test("is not reported a second time because two workers look", function* () {
    const { endpoint, other } = yield* seed("ann@acme.test")
    yield* failOn(30, endpoint.id, other.id)
    const given = yield* Effect.all([judge, judge, judge], { concurrency: "unbounded" })
    expect(given.flat()).toMatchObject([{ notice: "notice" }])
  })

  test("is reported later if the mail server is down, and the next step waits for the report", function* () {
    const down = yield* Effect.promise(() => mailServer({ at: "connect", reply: "421 4.3.2 not now" }))
    const { endpoint, other } = yield* seed("ann@acme.test")
    yield* failOn(24, endpoint.id, other.id)
    yield* judge
    yield* sendOver(down.url)
    yield* sendOver(down.url)
    expect(down.connections()).toBe(1)
    yield* failOn(200, endpoint.id, other.id)
    expect(yield* judge).toEqual([])
    const up = yield* Effect.promise(() => mailServer())
    yield* sendOver(up.url)
    expect(up.messages).toHaveLength(1)
    // The time until the next step starts now.
    yield* failOn(47, endpoint.id, other.id)
    expect(yield* judge).toEqual([])
    yield* failOn(2, endpoint.id, other.id)
    expect(yield* judge).toMatchObject([{ notice: "reminder" }])
  })

  test("is reported to the other contacts if one is permanently rejected", function* () {
    const mail = yield* Effect.promise(() => mailServer())
    mail.replies.set("gone.test", "550 5.1.1 no such user")
    mail.replies.set("slow.test", "451 4.7.1 later")
    const { endpoint, other } = yield* seed("a@gone.test", "b@slow.test", "c@acme.test")
    yield* failOn(24, endpoint.id, other.id)
    yield* judge
    yield* sendOver(mail.url)
    expect(mail.messages.map(({ to }) => to[0])).toEqual(["c@acme.test"])
    yield* pass(1)
    mail.replies.clear()
    yield* sendOver(mail.url)
    expect(mail.messages.map(({ to }) => to[0])).toEqual(["c@acme.test", "b@slow.test"])
  })

  test("is not reported once an operator disabled it, and is as new once it is enabled", function* () {
    const mail = yield* Effect.promise(() => mailServer())
    const { endpoint, other } = yield* seed("ann@acme.test")
    yield* failOn(24, endpoint.id, other.id)
    yield* judge
    const { disable, enable } = yield* EndpointRepository
    yield* disable(endpoint.id)
    yield* sendOver(mail.url)
    yield* failOn(200, endpoint.id, other.id)
    expect(yield* judge).toEqual([])
    expect(mail.messages).toEqual([])
    yield* enable(endpoint.id)
    expect(yield* stateOf(endpoint.id)).toMatchObject({ failingSince: null, notices: 0, disabledReason: null })
    expect(yield* judge).toEqual([])
  })

  test("is only known to fail where it is not to be disabled", function* () {
    const { endpoint, other } = yield* seed("ann@acme.test")
    const { update } = yield* EndpointRepository
    yield* update(endpoint.id, { disableWhenFailing: false })
    yield* failOn(24, endpoint.id, other.id)
    expect(yield* judge).toEqual([])
    expect((yield* stateOf(endpoint.id)).notices).toBe(1)
  })

  test("starts a new failing period after a time with an untrusted database clock", function* () {
    const { endpoint, other } = yield* seed("ann@acme.test")
    yield* failOn(200, endpoint.id, other.id)
    yield* sql`update clock_watch set believed_at = believed_at - interval '8 days'`
    expect(yield* judge).toEqual([])
    yield* sql`update clock_watch set believed_at = clock_timestamp()`
    expect(yield* judge).toEqual([])
    yield* failOn(23, endpoint.id, other.id)
    expect(yield* judge).toEqual([])
  })

  test("is not reported for calls that a wrong clock dated", function* () {
    const { endpoint } = yield* seed("ann@acme.test")
    yield* sql`update endpoint_readers set failing_since = null where endpoint_id = ${endpoint.id}`
    yield* sql`update delivery_outcomes set at = at + interval '3 days' where endpoint_id = ${endpoint.id}`
    expect(yield* judge).toEqual([])
    expect((yield* stateOf(endpoint.id)).failingSince).toBe(null)
    yield* pass(72)
    yield* sql`update clock_watch set faults = tstzmultirange(tstzrange(now() - interval '1 hour', now() + interval '1 hour'))`
    expect(yield* judge).toEqual([])
    expect((yield* stateOf(endpoint.id)).failingSince).toBe(null)
    yield* sql`update clock_watch set faults = '{}'`
  })

  test("is reported to the new contacts if they replace the earlier ones before the notice is sent", function* () {
    const mail = yield* Effect.promise(() => mailServer())
    const { endpoint, organization, other } = yield* seed("ann@acme.test")
    yield* failOn(24, endpoint.id, other.id)
    yield* judge
    yield* contactsOf(organization.id, "new@acme.test")
    yield* sendOver(mail.url)
    expect(mail.messages.map(({ to }) => to[0])).toEqual(["new@acme.test"])
  })
})
