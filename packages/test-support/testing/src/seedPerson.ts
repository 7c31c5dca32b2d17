import { judgeHits } from "@outreach/domain/hits/Hits"
import type { RecipientId } from "@outreach/domain/Identifier"
import { IdempotencyRepository } from "@outreach/domain/idempotency/executeOnce"
import { UnsubscriptionRepository } from "@outreach/domain/suppressions/Unsubscriptions"
import { Effect } from "effect"
import { applyBatches, receiveEvent } from "./receiveEvent.ts"
import { recordHits } from "./recordHits.ts"
import { email, npi, seedCampaign } from "./seedCampaign.ts"
import { changeAttempts } from "./seedDeadLetters.ts"
import { cancelCampaigns, claimMessages, sendCampaign, settleSent } from "./sendCampaign.ts"
import { sql } from "./sql.ts"
import { workerOn } from "./workerOn.ts"

export const person = { npi: npi(0), email: email(0) }

/** Seeds an organization that published and sent to three clinicians, and received events about the first one. */
export const seedPerson = Effect.fnUntraced(function* () {
  yield* cancelCampaigns
  const seeded = yield* seedCampaign({ recipients: 3 })
  const { organization, campaign, program } = seeded
  yield* sql`
    insert into recipient_fields (organization_id, recipient_id, fields)
    select organization_id, id, jsonb_build_object('private_address', email) from recipients where campaign_id = ${campaign.id}`
  yield* sendCampaign(campaign.id)
  for (const lease of yield* claimMessages(10)) yield* settleSent(lease)
  const [recipient] = yield* sql<{ id: RecipientId; token: string }>`
    select id, token from recipients where organization_id = ${organization.id} and npi = ${person.npi}`
  const { id, token } = recipient!
  const headers = { "user-agent": `Mail of ${person.email}` }
  const hit = { organizationId: organization.id, recipientId: id, headers }
  yield* recordHits({ ...hit, link: `https://partner.test/l/${token}` })
  yield* judgeHits(organization.id)
  yield* recordHits(hit)
  yield* (yield* UnsubscriptionRepository).ask({ organizationId: organization.id, recipientId: id })

  const data = { ...person, consumer_program_slug: program.slug, attribution: "service_token", token }
  const encoded = Buffer.from(`x${person.email}`).toString("base64")
  const events: ReadonlyArray<readonly [type: string, data: object]> = [
    ["account_created", { ...data, email: person.email.toUpperCase(), name: "Ada" }],
    ["learner_qualified", data],
    ["seen", { at: encodeURIComponent(person.email) }],
    ["seen", { at: encoded }],
    ["learner_qualified", { ...data, email: email(1), npi: npi(1), token: "zzzzzz" }],
  ]
  for (const [i, [type, about]] of events.entries()) {
    yield* receiveEvent(seeded, `evt_0${i + 1}`, `clinician.${type}`, { ...about })
  }
  while (yield* applyBatches) {}
  yield* sql`
    insert into complaints (organization_id, campaign_id, recipient_id, feedback_type)
    values (${organization.id}, ${campaign.id}, ${id}, 'abuse')`
  yield* sql`
    insert into late_refusals (organization_id, campaign_id, recipient_id, cause)
    values (${organization.id}, ${campaign.id}, ${id}, 'policy')`
  yield* sql`
    insert into suppressions (organization_id, program_id, kind, value, reason)
    values (${organization.id}, '', 'email', ${person.email}, 'bounced')`

  const body = JSON.stringify({ data: [{ token, npi: person.npi }] })
  const request = { organizationId: organization.id, key: "names-them", fingerprint: Buffer.from("names-them") }
  yield* (yield* IdempotencyRepository).store(request, { status: 200, headers: {}, body }, 1024 * 1024)

  // The partner's response quotes the request.
  const worker = yield* workerOn()
  const [published, ...others] = yield* worker.take()
  yield* worker.settle(others.slice(0, 2))
  yield* worker.settle([published!], { settlement: "rejected" }, 400)
  yield* worker.settle(others.slice(2), { settlement: "retry", delay: 3600 }, 500)
  const quote = `we have ${person.email} already`
  yield* changeAttempts(organization.id, (attempts) => attempts.map((attempt) => ({ ...attempt, response: quote })))
  yield* sql`update delivery_attempts set response = ${quote} where organization_id = ${organization.id}`
  yield* sql`update delivered set deliveries = replace(deliveries::text, '"response":"ok"', ${`"response":"${quote}"`})::json
    where organization_id = ${organization.id}`
  return { ...seeded, token, recipientId: id }
})

/** Reads every value of every column as text, by the column's full name, with the readable parts of bytes. */
export const dumpColumns = Effect.gen(function* () {
  const tables = yield* sql<{ name: string }>`
    select relname::text as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by relname`
  const found: Record<string, string> = {}
  for (const { name } of tables) {
    const columns = yield* sql<{ column: string; text: string }>`
      select member.key as column, string_agg(member.value, E'\\n') as text
      from ${sql(name)} row_of cross join jsonb_each_text(to_jsonb(row_of)) as member (key, value) group by member.key`
    for (const { column, text } of columns) {
      found[`${name}.${column}`] = (text ?? "").replaceAll(/\\x((?:[0-9a-f]{2})+)/g, (_, hex) =>
        readable(Buffer.from(hex, "hex")),
      )
    }
  }
  return found
})

const readable = (bytes: Buffer): string => bytes.toString("utf8").replaceAll(/[^\x20-\x7e]/g, "?")

/** Returns the columns that contain the person's data in any form, or one of the other words. */
export const namingPerson = (columns: Readonly<Record<string, string>>, ...words: ReadonlyArray<string>) => {
  const forms = [person.npi, person.email].flatMap((value) => {
    const base64 = [0, 1, 2].map((offset) =>
      Buffer.from(" ".repeat(offset) + value)
        .toString("base64")
        .slice(4, 4 * Math.floor((offset + value.length) / 3)),
    )
    return [value, encodeURIComponent(value), ...base64]
  })
  const isNamed = (text: string) =>
    words.some((word) => text.includes(word)) || forms.some((form) => text.toLowerCase().includes(form.toLowerCase()))
  return Object.keys(columns).filter((name) => isNamed(columns[name]!))
}
