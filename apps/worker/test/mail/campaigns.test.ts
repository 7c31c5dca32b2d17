import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { scheduleCampaign, updateCampaign } from "@outreach/domain/campaigns/Campaigns"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import type { CampaignId, RecipientId } from "@outreach/domain/Identifier"
import { reportComplaint } from "@outreach/domain/mail/returned/Bounces"
import { LinkDomainRepository } from "@outreach/domain/senders/LinkDomainRepository"
import { addSender, SenderRepository } from "@outreach/domain/senders/Senders"
import { UnsubscriptionRepository } from "@outreach/domain/suppressions/Unsubscriptions"
import { generateDkimKeyPair } from "@outreach/mail/dkimKeys"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { SenderRepositoryPg } from "@outreach/postgres/senders/SenderRepositoryPg"
import { singleKey } from "@outreach/process/keyRing"
import { afterTests } from "@outreach/testing/afterTests"
import { mailServer } from "@outreach/testing/mailServer"
import { email, FOOTER, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { eventually, until } from "@outreach/testing/until"
import { Effect, Layer, Redacted } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { journey } from "../journey.ts"
import { runWorker } from "../runWorker.ts"
import { verifySignatures } from "./verifySignatures.ts"

const { url, run } = journey()
const atEnd = afterTests()

let mail: Awaited<ReturnType<typeof mailServer>>
let worker: Awaited<ReturnType<typeof runWorker>>

// One worker sends everything in this file. Each test has its own organization and recipient domain.
beforeAll(async () => {
  mail = await mailServer({ atEnd })
  const settings = { SMTP_URL: mail.url, MAIL_FROM: "Deployment <outreach@deployment.test>" }
  worker = await runWorker(url(), settings, atEnd)
})

const sentTo = (domain: string) => mail.messages.filter(({ to }) => to[0]!.endsWith(`@${domain}`))
const untilSent = (domain: string, count: number) => until(mail, () => sentTo(domain).length >= count && sentTo(domain))

const campaigns = <A>(use: (campaigns: CampaignRepository["Service"]) => Effect.Effect<A, unknown>) =>
  run(CampaignRepository.use(use))
const untilStatus = (id: CampaignId, wanted: string) =>
  eventually(
    () => campaigns(({ find }) => find(id)),
    ({ status }) => status === wanted,
  )

interface Row {
  readonly id: RecipientId
  readonly reason: string | null
}
const recipientsOf = (id: CampaignId) =>
  run(sql<Row>`select id, withdrawal_reason as reason from recipients where campaign_id = ${id} order by npi`)

describe("a campaign", () => {
  it("sends all recipients their own fields, and quarantines the message of a recipient without a required field", async () => {
    const { campaign } = await run(function* () {
      const seeded = yield* seedCampaign({ recipients: 0, fields: ["first_name", "specialty"] })
      const lines = ["Ann & Lee", "Bo"].map((first_name, i) => {
        return { number: i, npi: npi(i), email: email(i, "fields.test"), fields: { first_name } }
      })
      yield* importLines(seeded.campaign.id, lines)
      yield* sql`
        update campaigns set html = ${`<p>Dear {{ first_name }}, {{ specialty | default: "doctor" }}</p>\n${FOOTER}`}
        where id = ${seeded.campaign.id}`
      yield* sql`
        update recipient_fields set fields = '{}'
        where recipient_id = (select id from recipients where campaign_id = ${seeded.campaign.id} and npi = ${npi(1)})`
      yield* scheduleCampaign(seeded.campaign.id, { force: ["fields"] })
      return seeded
    })
    await untilStatus(campaign.id, "completed")
    const texts = sentTo("fields.test").map(({ text }) => text)
    expect(texts).toEqual([expect.stringContaining("<p>Dear Ann &amp; Lee, doctor</p>")])
    expect(await campaigns(({ quarantined }) => quarantined(campaign.id))).toMatchObject([
      { unknownOutcomes: 0, class: "template", code: "needs first_name, which is missing" },
    ])
    expect(await run(sql`select from events where body like '%Ann%'`)).toEqual([])
  })

  it("is paused because of complaints", async () => {
    const { campaign } = await run(function* () {
      const seeded = yield* seedCampaign({ recipients: 4, opensIn: 3600 })
      yield* sql`
        insert into campaign_count_changes (organization_id, campaign_id, sent)
        values (${seeded.organization.id}, ${seeded.campaign.id}, 1000)`
      yield* updateCampaign(seeded.campaign.id, { pauseOnComplaints: true })
      yield* scheduleCampaign(seeded.campaign.id)
      return seeded
    })
    await untilStatus(campaign.id, "published")
    const complain = ({ id }: Row) => reportComplaint(id, "abuse")
    await run(Effect.forEach(await recipientsOf(campaign.id), complain, { concurrency: "unbounded" }))
    expect((await untilStatus(campaign.id, "paused")).stopReason).not.toBeNull()
  })

  it("withdraws a recipient who unsubscribed", async () => {
    const { campaign } = await run(function* () {
      const seeded = yield* seedCampaign({ recipients: 1, opensIn: 3600 })
      const rows = yield* sql<{
        id: RecipientId
      }>`select id from recipients where campaign_id = ${seeded.campaign.id}`
      const { ask } = yield* UnsubscriptionRepository
      for (const { id } of rows) yield* ask({ organizationId: seeded.organization.id, recipientId: id })
      return seeded
    })
    await eventually(
      () => recipientsOf(campaign.id),
      ([row]) => row!.reason === "suppressed",
    )
  })
})

describe("a sender", () => {
  const lostKeys = Layer.provide(
    // Otherwise the layer would be shared, with the other cipher.
    Layer.fresh(SenderRepositoryPg),
    Layer.succeed(SecretCipher, SecretCipher.make(singleKey(Redacted.make(Buffer.alloc(32, 9))))),
  )

  /** Seeds a campaign of an organization with an active sender at its own domain. */
  const seedWithSender = Effect.fnUntraced(function* (domain: string, recipients: number) {
    const { organization, campaign } = yield* seedCampaign({ recipients, emailDomain: `of.${domain}` })
    const { id, keys } = yield* addSender(
      {
        ...{ organizationId: organization.id, programId: null, ramp: null },
        from: { name: "Sender", address: `outreach@${domain}` },
        ...{ replyTo: `replies@${domain}`, bounceDomain: `bounces.${domain}`, linkDomain: `click.${domain}` },
      },
      { ...(yield* generateDkimKeyPair), selector: "s1" },
      null,
    )
    const senders = yield* SenderRepository
    yield* senders.activate(id)
    return { campaign, id, senders, record: `v=DKIM1; k=rsa; p=${keys[0]!.publicKey}` }
  })

  it("of an organization signs with both rotation keys and uses its verified link domain; other senders use the deployment's", async () => {
    const { own, second } = await run(function* () {
      const own = yield* seedWithSender("acme.test", 2)
      const next = { ...(yield* generateDkimKeyPair), selector: "s2" }
      yield* own.senders.addKey(own.id, next)
      yield* own.senders.activate(own.id)
      yield* (yield* LinkDomainRepository).verify(own.campaign.organizationId, "click.acme.test")
      yield* scheduleCampaign(own.campaign.id)
      yield* scheduleCampaign((yield* seedWithSender("pending.test", 1)).campaign.id)
      yield* scheduleCampaign((yield* seedCampaign({ recipients: 1, emailDomain: "of.nobody.test" })).campaign.id)
      return { own, second: `v=DKIM1; k=rsa; p=${next.publicKey}` }
    })
    const [acme, pending, nobody] = [
      await untilSent("of.acme.test", 2),
      await untilSent("of.pending.test", 1),
      await untilSent("of.nobody.test", 1),
    ]
    const linkBases = (text: string) =>
      new Set(text.replaceAll(/=\r\n/g, "").match(/https?:\/\/[^/"]+(?=\/(?:l|o|unsubscribe)\/)/g))
    for (const { text } of acme) expect(linkBases(text)).toEqual(new Set(["https://click.acme.test"]))
    for (const { text } of [...pending, ...nobody]) expect(linkBases(text)).toEqual(new Set(["http://127.0.0.1:8080"]))
    const records = { "s1._domainkey.acme.test": own.record, "s2._domainkey.acme.test": second }
    for (const { from, text } of [...acme, ...nobody]) {
      const isOwn = acme.some((message) => message.text === text)
      const domain = isOwn ? "acme.test" : "deployment.test"
      expect(text).toMatch(new RegExp(`^Message-ID: <rcp_[0-9a-f]{32}@${domain}>`, "m"))
      expect(from).toMatch(new RegExp(`^bounce-[0-9a-f-]+@${isOwn ? "bounces.acme.test" : domain}$`))
      expect(text).toContain(`From: ${isOwn ? "Sender" : "Deployment"} <outreach@${domain}>`)
      expect(text.includes("Reply-To: replies@acme.test")).toBe(isOwn)
      const results = (await verifySignatures(text, records)).map(({ selector, status }) => [selector, status])
      const pass = expect.objectContaining({ result: "pass", aligned: "acme.test" })
      const none = { result: "none", comment: "message not signed" }
      expect(Object.fromEntries(results)).toEqual(isOwn ? { s1: pass, s2: pass } : { undefined: none })
    }
  })

  it("with an unreadable key defers its messages, and other senders' messages are sent", async () => {
    const { waiting } = await run(function* () {
      const waiting = yield* Effect.provide(seedWithSender("lost.test", 3), lostKeys)
      yield* scheduleCampaign(waiting.campaign.id)
      yield* scheduleCampaign((yield* seedWithSender("found.test", 3)).campaign.id)
      return { waiting }
    })
    const failures = () =>
      run(sql<{ attempts: number; failure: string; later: boolean }>`
        select attempts, failure_class as failure, due_at > clock_timestamp() + interval '10 minutes' as later
        from messages where campaign_id = ${waiting.campaign.id} and lease_token is null and failure_class is not null`)
    const put = { attempts: 0, failure: "sender", later: true }
    expect(await eventually(failures, ({ length }) => length === 3)).toEqual([put, put, put])
    await untilSent("of.found.test", 3)
    expect(sentTo("of.lost.test")).toEqual([])
    const warnings = worker.lines.filter(
      ({ message }) => message === "DKIM key of a sender unreadable, messages postponed",
    )
    expect(new Set(warnings.map(({ annotations }) => annotations["senderId"]))).toEqual(new Set([waiting.id]))
  })
})
