import { ImportLog } from "@outreach/backoffice/recipients/ImportLog"
import { commandCampaign, createCampaign, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import { PrivateEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import { createIdentifier, type ProgramId } from "@outreach/domain/Identifier"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { OrganizationRepository } from "@outreach/domain/organizations/OrganizationRepository"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { EmailAddress } from "@outreach/domain/recipients/EmailAddress"
import { addSender } from "@outreach/domain/senders/Senders"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { generateDkimKeyPair } from "@outreach/mail/dkimKeys"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { qualifyOn } from "@outreach/testing/outreachOn"
import { partner } from "@outreach/testing/partner"
import { FOOTER, npi, SENDER } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { signWebhook } from "@outreach/webhook-verifier/testing"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import PostalMime from "postal-mime"
import type { TestConsole } from "../startConsole.ts"
import { startProcess } from "./startProcess.ts"

const DAY_MS = 86_400_000
const BROWSER = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"
const SCANNER = "Barracuda Sentinel (EE)"

/** How many clinicians each campaign writes to, by the domain of their addresses. */
const DOMAINS = { "clinic.test": 12, "university.test": 3, "hospital.test": 4, "practice.test": 2 }
const REPLIES = {
  "hospital.test": "550 5.7.1 Message refused by policy, see https://postmaster.hospital.test",
  "university.test": "550 5.1.1 No such mailbox",
  "practice.test": "450 4.2.1 Mailbox busy, try again later",
}

/**
 * Fills a deployment with something for every page to show, by its real processes: a campaign is sent to a mail server that refuses some
 * domains, clinicians open and click, the partner fails at some events, sends its own and reads the feed. Days of the past, and the
 * samples of today, are written by hand. Returns the organization of it all. The processes and servers run until `atEnd` calls back.
 */
export const seedDeployment = async (
  { databaseUrl, run }: TestConsole,
  atEnd: (end: () => Promise<void>) => void,
): Promise<Effect.Success<ReturnType<typeof seedOrganization>>> => {
  const mail = await mailServer(undefined, undefined, atEnd)
  for (const [domain, reply] of Object.entries(REPLIES)) mail.replies.set(domain, reply)
  const receiver = await partner(({ event }, response) => {
    if (event.event_type === "outreach.email_bounced") return response.writeHead(404).end("<h1>No such route</h1>")
    if (event.event_type === "outreach.email_opened") return response.writeHead(500).end("database is down\nat line 7")
    return response.end("ok")
  }, atEnd)
  await run(seedFailedOrganization)
  const seeded = await run(seedOrganization(receiver.url))
  receiver.trust(seeded.secret)

  const api = await startProcess("api", databaseUrl, {}, atEnd)
  const settings = { SMTP_URL: mail.url, PUBLIC_BASE_URL: api, WEBHOOK_RETRY_DELAYS: "0s,1h" }
  await startProcess("worker", databaseUrl, settings, atEnd)
  await eventually(
    () => run(countSent),
    (count) => count === DOMAINS["clinic.test"],
  )
  await run(backdate)
  for (const [i, { text }] of mail.messages.entries()) await readMail(text, api, i)

  const inbound = `${api}/v1/partners/consumer/webhooks/${seeded.endpoint.id}`
  for (const event of inboundEvents) {
    const { headers, body } = await signWebhook(event, [Redacted.value(seeded.secret)])
    await fetch(inbound, { method: "POST", headers, body })
  }
  await fetch(inbound, { method: "POST", ...(await signWebhook(inboundEvents[0]!, ["whsec_another"])) })
  const authorization = `Bearer ${Redacted.value(seeded.key.text)}`
  const paths = ["events?since=2026-01-01T00:00:00Z", "tokens?since=2026-01-01T00:00:00Z", "digest?date=yesterday"]
  for (const path of paths) await fetch(`${api}/v1/partners/consumer/${path}`, { headers: { authorization } })

  const failing = ["outreach.email_opened", "outreach.email_bounced", "outreach.email_clicked"]
  await eventually(
    () => new Set(receiver.received.map(({ event }) => event.event_type)),
    (types) => failing.every((type) => types.has(type)),
  )
  await run(seedPast(seeded))
  return seeded
}

/** An organization whose endpoint failed yesterday, and works again. */
const seedFailedOrganization = Effect.gen(function* () {
  const attempt = {
    number: 7,
    startedAt: fromUnixMillis(Date.now() - DAY_MS),
    latencyMs: 15_000,
    status: 503,
    outcome: "server_error",
    response: "Down for maintenance",
  }
  const { endpoint } = yield* seedDeadLetters(40, { daysAgo: 1, attempts: [attempt] })
  yield* (yield* EndpointRepository).enable(endpoint.id)
})

/** An organization with a program, an endpoint, keys and secrets, and campaigns that are sent, paused, over and not begun. */
const seedOrganization = Effect.fnUntraced(function* (endpointUrl: string) {
  const organization = yield* (yield* OrganizationRepository).create(
    yield* createIdentifier("organization"),
    "Northwind Heart Institute",
  )
  yield* rotateSecret(organization.id, 0)
  const secret = yield* rotateSecret(organization.id, 7 * 86_400)
  const endpoint = yield* (yield* EndpointRepository).create({
    organizationId: organization.id,
    id: yield* createIdentifier("endpoint"),
    url: PrivateEndpointUrl.make(endpointUrl),
    eventTypes: null,
  })
  const old = yield* (yield* EndpointRepository).create({
    organizationId: organization.id,
    id: yield* createIdentifier("endpoint"),
    url: PrivateEndpointUrl.make("https://old.northwind.test/webhooks"),
    eventTypes: null,
  })
  yield* (yield* EndpointRepository).disable(old.id)
  const key = yield* issueKey({
    organizationId: organization.id,
    name: "Data warehouse",
    scopes: ["events:read", "digest:read", "recipients:read", "tokens:read"],
    expiresAt: fromUnixMillis(Date.now() + 20 * DAY_MS),
  })
  const program = yield* (yield* ProgramRepository).create({
    organizationId: organization.id,
    id: yield* createIdentifier("program"),
    slug: "heart-failure",
    name: "Heart failure",
    ...SENDER,
    learnerTarget: 400,
    completerTarget: 200,
  })
  const from = { name: "Northwind", address: "outreach@northwind.test" }
  yield* addSender(
    { organizationId: organization.id, from, bounceDomain: "bounces.northwind.test", ramp: "200,400,800" },
    yield* generateDkimKeyPair,
    null,
  )
  yield* SqlClient.SqlClient.use(
    (sql) => sql`
      insert into link_domains (organization_id, domain, verified_at)
      values (${organization.id}, 'click.northwind.test', clock_timestamp())`,
  )
  yield* qualifyInThePast({ organization, program })
  const spring = yield* seedMailing(program.id, "Spring invitation", 0)
  yield* scheduleCampaign(spring.id)
  const paused = yield* seedMailing(program.id, "Reminder of spring", 1000)
  yield* scheduleCampaign(paused.id)
  yield* commandCampaign(paused.id, "pause")
  yield* seedMailing(program.id, "Autumn invitation", 2000)
  const over = yield* seedMailing(program.id, "Winter invitation", 3000)
  yield* commandCampaign(over.id, "cancel")
  return { organization, secret, endpoint, key, program, campaign: spring }
})

const seedMailing = Effect.fnUntraced(function* (programId: ProgramId, name: string, first: number) {
  const campaign = yield* createCampaign({
    programId,
    name,
    kind: "traffic",
    subject: "An invitation to {{ program_name }}",
    html: `<h1>Heart failure: what changed in 2026</h1><p>Dear colleague, a course of 40 minutes.</p><p><a href="https://learn.test/?t={{ token }}">Begin the course</a></p>${FOOTER}`,
    windowStart: fromUnixMillis(Date.now()),
    windowEnd: fromUnixMillis(Date.now() + 12 * DAY_MS),
  })
  const addresses = Object.entries(DOMAINS).flatMap(([domain, count]) =>
    Array.from({ length: count }, (_, i) => `clinician${first + i}@${domain}`),
  )
  const lines = addresses.map((address, i) => ({
    number: i + 2,
    npi: npi(first + i),
    email: EmailAddress.make(address),
  }))
  const log = yield* ImportLog
  const record = { organizationId: campaign.organizationId, id: yield* log.begin(campaign, "Dana Reyes") }
  const { imported } = yield* importLines(campaign.id, lines)
  const counts = { imported, updated: 0, alreadyThere: 0, suppressed: 0, repeated: 0, rejected: 3 }
  yield* log.save(record, { lines: imported + 3, ...counts }, [
    { line: 12, reason: "the e-mail address is not valid" },
    { line: 40, reason: "the NPI has too few digits and needs 10" },
    { line: 41, reason: "the NPI has too few digits and needs 10" },
  ])
  yield* log.end(record, null)
  return campaign
})

/** Clinicians who reached the program's stages on each of the days before today, fewer on Sundays. */
const qualifyInThePast = Effect.fnUntraced(function* ({
  organization,
  program,
}: {
  readonly organization: { readonly id: Parameters<typeof qualifyOn>[0] }
  readonly program: { readonly id: ProgramId }
}) {
  const stages = { account_created: 9, learner_qualified: 6, completer_qualified: 2 } as const
  for (let day = 40; day >= 1; day--) {
    const at = fromUnixMillis(Date.now() - day * DAY_MS)
    const clinicians = Object.entries(stages).flatMap(([stage, count]) =>
      Array.from({ length: 1 + ((count * (3 + (day % 7))) % (count + 3)) }, (_, i) => ({
        programId: program.id,
        stage: stage as keyof typeof stages,
        npi: npi(100_000 + day * 100 + i),
      })),
    )
    yield* qualifyOn(organization.id, clinicians, at as string as CommitTimestamp)
  }
})

const countSent = Effect.map(
  SqlClient.SqlClient.use((sql) => sql<{ sent: number }>`select count(sent_at)::int as sent from recipients`),
  ([row]) => row!.sent,
)

/** Lets what was sent have been sent a while ago: who opens a message at once is taken for a machine. */
const backdate = SqlClient.SqlClient.use(
  (sql) => sql`update recipients set sent_at = sent_at - interval '40 minutes' where sent_at is not null`,
)

/** What a clinician or a mail filter does with the message of a number. */
const readMail = async (raw: string, api: string, n: number): Promise<void> => {
  const { html = "" } = await PostalMime.parse(raw)
  const links = html.match(/https?:\/\/[^\s"'<>]+/g) ?? []
  const follow = async (kind: "o" | "l", userAgent: string) => {
    const link = links.find((each) => each.startsWith(`${api}/${kind}/`))
    if (link !== undefined) await fetch(link, { headers: { "user-agent": userAgent }, redirect: "manual" })
  }
  if (n % 3 === 2) return follow("l", SCANNER)
  await follow("o", BROWSER)
  if (n % 3 === 1) await follow("l", BROWSER)
}

/** Clinicians who created an account, of whom some learned, and events that cannot be applied. */
const inboundEvents = Array.from({ length: 9 }, (_, i) => {
  const stage = (["account_created", "learner_qualified", "completer_qualified"] as const)[i % 3]!
  const now = fromUnixMillis(Date.now())
  return {
    object: "event",
    livemode: false,
    event_id: `evt_${String(i).padStart(32, "0")}`,
    event_type: `clinician.${stage}`,
    event_version: 1,
    occurred_at: now,
    emitted_at: now,
    source: "consumer",
    data: {
      npi: npi(Math.floor(i / 3)),
      consumer_program_slug: i === 7 ? "nowhere" : "heart-failure",
      ...(stage === "account_created" && { email: `clinician${i / 3}@clinic.test`, attribution: "organic" }),
    },
    metadata: null,
  }
})

/** The days before today, and the samples of the last. */
const seedPast = Effect.fnUntraced(function* ({
  organization,
  program,
}: Effect.Success<ReturnType<typeof seedOrganization>>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    insert into digest_outreach (
      organization_id, program_id, date, recipients_published, sent, bounced, opened, clicked, unique_opened, unique_clicked)
    select ${organization.id}, ${program.id}, date, 300 - 6 * n, sent, sent / 40, sent / 3, sent / 8, sent / 4, sent / 10
    from generate_series(1, 40) n
    cross join lateral (select (now() at time zone 'utc')::date - n as date) days
    cross join lateral (
      select case when extract(isodow from date) > 5 then 0 else 140 + (n * 37) % 120 end as sent
    ) counts
    on conflict do nothing`
  for (const scope of ["", organization.id]) {
    yield* sql`
      insert into gauge_samples
      select ${scope}, date_bin('5 minutes', now(), 'epoch') - n * interval '5 minutes',
        (300 + 200 * sin(n / 20.0))::int, 0, 0, greatest(0, 40 - n), 0, 0
      from generate_series(0, 280) n
      on conflict (organization_id, sampled_at) do update set sent = excluded.sent, dead_letters = excluded.dead_letters`
  }
})
