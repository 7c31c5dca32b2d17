import { AuditLog } from "@outreach/backoffice/operators/AuditLog"
import { createDeadLetterReplay } from "@outreach/domain/deliveries/Replays"
import { createIdentifier } from "@outreach/domain/Identifier"
import { InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { Settlements } from "@outreach/domain/mail/Settlements"
import { addOperator, OperatorRepository, signIn } from "@outreach/domain/operators/Operators"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { addSender } from "@outreach/domain/senders/Senders"
import { SuppressionRepository } from "@outreach/domain/suppressions/Withdrawals"
import { generateDkimKeyPair } from "@outreach/mail/dkimKeys"
import { receiveEvent } from "@outreach/testing/receiveEvent"
import { email, npi, publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { insertDeadLetters } from "@outreach/testing/seedDeadLetters"
import { claimMessages, sendCampaign, settleSent } from "@outreach/testing/sendCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import type { Route } from "../src/http/Route.ts"

const RECIPIENTS = 4

/** Generating a key takes longer than all other steps of the seed, so that all organizations share one. */
const dkimKey = Effect.runSync(Effect.cached(generateDkimKeyPair))

/** The secret parts of the endpoint's address. */
const [PATH_SECRET, QUERY_SECRET] = ["8fKq0dJx2LmWv7TzRb5N", "hunter2"]

/** Creates an organization with one of everything that a page shows. Returns the ids by the names in routes, and the personal values. */
export const seedOrganization = Effect.fnUntraced(function* (emailDomain: string) {
  const seeded = yield* seedCampaign({ recipients: RECIPIENTS, emailDomain })
  const { organization, program, campaign, endpoint } = seeded
  yield* sql`update organizations set name = ${`Organization of ${emailDomain}`} where id = ${organization.id}`
  yield* sql`
    update webhook_endpoints set url = ${`https://${emailDomain}/hooks/${PATH_SECRET}?key=${QUERY_SECRET}`} where id = ${endpoint.id}`
  yield* sendCampaign(campaign.id)
  const leases = (yield* claimMessages(RECIPIENTS)).toSorted((a, b) => (a.recipientId < b.recipientId ? -1 : 1))
  for (const lease of leases.slice(0, -1)) yield* settleSent(lease)
  // No message of this organization is due while other organizations are seeded.
  const full = { outcome: "deferred", reply: "452 4.2.2 The mailbox is full" } as const
  yield* (yield* Settlements).settle(leases.at(-1)!, { state: "retry", attempts: 1, delaySeconds: 3600 }, full)
  const { key } = yield* issueKey({
    organizationId: organization.id,
    name: "x",
    scopes: ["tokens:read"],
    expiresAt: null,
  })

  const [eventId] = yield* publishSent(campaign, 1)
  const [delivery] = yield* insertDeadLetters([
    { organizationId: organization.id, endpointId: endpoint.id, eventId: eventId!, reason: "exhausted" },
  ])
  const replay = yield* createDeadLetterReplay({ endpointId: endpoint.id }, 1)

  // It waits for its next attempt.
  yield* sql`
    insert into deliveries (organization_id, endpoint_id, event_id, attempts, due_at, group_id)
    select organization_id, endpoint_id, event_id, 1, clock_timestamp() + interval '6 hours', group_id from dead_letters where id = ${delivery!}`

  const inboundId = yield* createIdentifier("event")
  yield* receiveEvent(seeded, inboundId, "clinician.learner_qualified", {
    npi: npi(0),
    email: email(0, emailDomain),
    consumer_program_slug: "nowhere",
  })
  yield* InboxRepository.use(({ countRejections }) =>
    countRejections([{ endpointId: endpoint.id, reason: "no_match", count: 3 }]),
  )
  const suppressed = { programId: program.id, npi: npi(900), email: email(900, emailDomain) }
  yield* (yield* SuppressionRepository).add(organization.id, [suppressed], "operator")

  const operator = yield* addOperator({
    name: `Sam at ${emailDomain}`,
    role: "viewer",
    organizationId: organization.id,
  })
  yield* signIn({ name: operator.name })
  const [session] = yield* (yield* OperatorRepository).listSessions(operator.id)
  const sender = yield* addSender(
    { organizationId: organization.id, from: { name: "Sender", address: `outreach@${emailDomain}` } },
    { ...(yield* dkimKey), selector: "s1" },
    null,
  )
  const linkDomain = `click.${emailDomain}`
  yield* sql`
    insert into link_domains (organization_id, domain, verified_at) values (${organization.id}, ${linkDomain}, clock_timestamp())`

  const idOf = (table: string) =>
    Effect.map(
      sql<{ id: string }>`select id from ${sql(table)} where organization_id = ${organization.id} order by id limit 1`,
      ([row]) => row!.id,
    )
  const recipient = yield* idOf("recipients")
  const recipients = yield* sql<{ id: string; token: string }>`
    select id, token from recipients where organization_id = ${organization.id} order by id`
  const numbers = [...Array.from({ length: RECIPIENTS }, (_, n) => n), 900]
  yield* sql`
    insert into imports (organization_id, campaign_id, operator, ended_at)
    values (${organization.id}, ${campaign.id}, 'Dana Reyes', clock_timestamp())`
  const erasure = yield* createIdentifier("erasure")
  const { begin } = yield* AuditLog
  const command = yield* begin({
    ...{ command: "clinicians erase", arguments: { organization: organization.id } },
    ...{ operator: "Dana Reyes", osUser: "root", host: "h" },
  })
  yield* sql`
    insert into erasures (organization_id, id, operator, commands, subject, hashes, release, finished_at)
    values (${organization.id}, ${erasure}, 'Dana Reyes', array[${command}::text], '\\x01', '{}', 'test', clock_timestamp())`
  return {
    campaign,
    published: eventId!,
    ids: {
      organization: organization.id,
      program: program.id,
      campaign: campaign.id,
      endpoint: endpoint.id,
      sender: sender.id,
      "link-domain": linkDomain,
      key: key.id,
      secret: yield* idOf("signing_secrets"),
      recipient,
      id: recipient,
      search: recipient,
      delivery: delivery!,
      import: yield* idOf("imports"),
      erasure,
      group: yield* idOf("failure_groups"),
      replay: replay.id,
      event: inboundId,
      operator: operator.id,
      session: session!.id,
      /** Filters the audit log. */
      object: campaign.id,
    },
    recipients,
    personal: numbers.flatMap((n): ReadonlyArray<string> => [npi(n), email(n, emailDomain)]),
    secrets: [PATH_SECRET, QUERY_SECRET],
  }
})

export type Seeded = Effect.Success<ReturnType<typeof seedOrganization>>

/** Returns the address of a route about a seeded organization, with the ids of its things as the query. */
export const addressOf = (
  { path, inputs }: Pick<Route<unknown>, "path" | "inputs">,
  { ids, published }: Pick<Seeded, "ids" | "published">,
): string => {
  const event = path.startsWith("/events/") ? { event: published } : {}
  const examples: Readonly<Record<string, string | undefined>> = { ...ids, date: "2026-11-01", all: "true", ...event }
  const query = Object.keys(inputs).flatMap((name) => (examples[name] ? [`${name}=${examples[name]}`] : []))
  return `${path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(examples[name]!))}?${query.join("&")}`
}
