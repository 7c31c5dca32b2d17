import { createHmac } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"
import { createServer } from "node:http"
import { EventEnvelope, type EventType, eventExamples } from "@outreach/contract"
import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import type { RecipientId } from "@outreach/domain/Identifier"
import { afterTests } from "@outreach/testing/afterTests"
import { listen } from "@outreach/testing/listen"
import { recordHits } from "@outreach/testing/recordHits"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { Changes, until } from "@outreach/testing/until"
import { Effect, Redacted } from "effect"
import { SMTPServer } from "smtp-server"
import { beforeAll, describe, expect, it } from "vitest"
import { journey } from "../journey.ts"
import { runWorker } from "../runWorker.ts"

interface Envelope {
  readonly event_id: string
  readonly event_type: EventType
  readonly emitted_at: string
  readonly data: Readonly<Record<string, unknown>>
}
interface Call {
  readonly method: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly event: Envelope
  readonly at: number
}
interface Row {
  readonly id: RecipientId
  readonly token: string
  readonly npi: string
  readonly email: string
}

const { url, run } = journey()
const atEnd = afterTests()

const REFUSED = "clinician1@clinic.test"
const changes = new Changes()
const calls: Array<Call> = []
const mailed: Array<string> = []
let secrets: ReadonlyArray<string>
let recipients: ReadonlyArray<Row>
let seeded: Effect.Success<ReturnType<typeof seedCampaign>>
let ahead: Effect.Success<ReturnType<typeof seedCampaign>>

const ofType = (type: string, campaignId = seeded.campaign.id) =>
  calls.filter(({ event }) => event.event_type === type && event.data["service_campaign_id"] === campaignId)

/** An active campaign: one message accepted, one rejected, one recipient opens and clicks; and a campaign that opens in an hour. */
beforeAll(async () => {
  const receiver = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const { method, headers } = request
    calls.push({ method, headers, body, event: JSON.parse(body), at: Date.now() })
    response.end()
    changes.announce()
  })
  const endpointUrl = `http://127.0.0.1:${await listen(receiver, atEnd)}/webhooks`
  const mail = new SMTPServer({
    disabledCommands: ["AUTH", "STARTTLS"],
    onRcptTo: ({ address }, _, done) =>
      done(address === REFUSED ? Object.assign(new Error("5.1.1 No such user"), { responseCode: 550 }) : null),
    onData: (stream, { envelope }, done) => {
      mailed.push(...envelope.rcptTo.map(({ address }) => address))
      stream.resume().on("end", () => done())
    },
  })
  const SMTP_URL = `smtp://127.0.0.1:${await listen(mail.server, atEnd)}`

  const launch = Effect.fnUntraced(function* (options: Parameters<typeof seedCampaign>[0]) {
    const made = yield* seedCampaign({ endpointUrl, ...options })
    yield* scheduleCampaign(made.campaign.id)
    return made
  })
  ahead = await run(launch({ recipients: 1, opensIn: 3600 }))
  seeded = await run(launch({ recipients: 2 }))
  const organizationId = seeded.organization.id
  const newer = await run(rotateSecret(organizationId, 3600))
  secrets = [seeded.secret, newer].map(Redacted.value)
  recipients = await run(
    sql<Row>`select id, token, npi, email from recipients where organization_id = ${organizationId} order by id`,
  )
  await runWorker(url(), { SMTP_URL }, atEnd)
  const received = (count: number) => until({ changes }, () => calls.length >= count)
  await received(4)

  await run(function* () {
    // Hits within a second of the acceptance would be suspected.
    yield* sql`
      update recipients set sent_at = sent_at - interval '1 hour'
      where organization_id = ${organizationId} and sent_at is not null`
    const hit = { organizationId, recipientId: recipients.find(({ email }) => email !== REFUSED)!.id }
    yield* recordHits(
      { ...hit, headers: { "user-agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64)" } },
      { ...hit, link: "https://clinic.test/", headers: { "user-agent": "curl/8.5.0" } },
    )
  })
  await received(6)
})

describe("a webhook", () => {
  it("is an event envelope, POSTed as JSON", () => {
    expect(calls).toHaveLength(6)
    for (const { method, headers, event } of calls) {
      expect([method, headers["content-type"]]).toEqual(["POST", "application/json"])
      // The contract's tests compare its examples with the catalog of the specification.
      expect(EventEnvelope.parse(event)).toEqual(event)
      expect(Object.keys(event.data).sort()).toEqual(Object.keys(eventExamples[event.event_type].data).sort())
      expect(event).toMatchObject({ livemode: false, source: "service", metadata: null })
    }
    expect(new Set(calls.map(({ event }) => event.event_id)).size).toBe(6)
  })

  it("carries X-Signature and no bearer: t in Unix seconds, and for each active secret the HMAC-SHA256 of <t>.<raw body>", () => {
    for (const { headers, body, event, at } of calls) {
      expect(headers).not.toHaveProperty("authorization")
      const active = event.data["service_campaign_id"] === seeded.campaign.id ? secrets : [Redacted.value(ahead.secret)]
      const [t, ...v1] = String(headers["x-signature"]).split(",")
      const seconds = Number(/^t=(\d+)$/.exec(t!)?.[1])
      // A call takes at most 15 s.
      expect(Math.abs(at / 1000 - seconds)).toBeLessThan(60)
      const entries = active.map(
        (secret) => `v1=${createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")}`,
      )
      expect(v1.toSorted()).toEqual(entries.toSorted())
    }
  })
})

it("outreach.recipients_published comes before the campaign goes live, and seats each token with its NPI", async () => {
  const [published] = ofType("outreach.recipients_published", ahead.campaign.id)
  expect(Date.parse(String(published!.event.data["scheduled_send_window_start"]))).toBeGreaterThan(published!.at)
  const rows = await run(sql`
    select token, npi, email, id as service_recipient_id from recipients where campaign_id = ${ahead.campaign.id}`)
  expect(published!.event.data).toMatchObject({
    ...{ service_campaign_name: "Spring", service_program_name: "Heart failure" },
    ...{ consumer_program_slug: "heart-failure", recipients: rows },
  })
  expect(ofType("outreach.email_sent", ahead.campaign.id)).toEqual([])
  const [under, sent] = [ofType("outreach.recipients_published"), ofType("outreach.email_sent")]
  expect(under[0]!.event.emitted_at < sent[0]!.event.emitted_at).toBe(true)
})

describe("the outcome of a message", () => {
  const tokenTo = (wanted: boolean) => recipients.find(({ email }) => (email !== REFUSED) === wanted)!.token

  it("is outreach.email_sent once the mail server took it", () => {
    expect(mailed).toEqual([recipients.find(({ email }) => email !== REFUSED)!.email])
    expect(ofType("outreach.email_sent").map(({ event }) => event.data["token"])).toEqual([tokenTo(true)])
  })

  it("is outreach.email_bounced on a hard bounce, shown in the record, and no further e-mail is queued", async () => {
    const [bounced] = ofType("outreach.email_bounced")
    expect(bounced!.event.data).toMatchObject({ token: tokenTo(false), bounce_reason: "mailbox_not_found" })
    const rows = await run(sql`
      select bounced_at is not null as bounced, sent_at is not null as sent,
        exists (select from messages where recipient_id = recipients.id) as waiting
      from recipients where organization_id = ${seeded.organization.id} and token = ${tokenTo(false)}`)
    expect(rows).toEqual([{ bounced: true, sent: false, waiting: false }])
  })

  it("is outreach.email_opened and outreach.email_clicked, suspected or not", () => {
    const suspected = (type: string) => ofType(type).map(({ event }) => event.data["is_bot_suspected"])
    expect(suspected("outreach.email_opened")).toEqual([false])
    expect(suspected("outreach.email_clicked")).toEqual([true])
  })
})
