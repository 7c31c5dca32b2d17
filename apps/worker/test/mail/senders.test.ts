import type { ProgramId } from "@outreach/domain/Identifier"
import { LinkDomainRepository } from "@outreach/domain/senders/LinkDomainRepository"
import type { Ramp } from "@outreach/domain/senders/Ramp"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { addSender } from "@outreach/domain/senders/Senders"
import { generateDkimKeyPair } from "@outreach/mail/dkimKeys"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { SenderRepositoryPg } from "@outreach/postgres/senders/SenderRepositoryPg"
import { singleKey } from "@outreach/process/keyRing"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sendCampaign } from "@outreach/testing/sendCampaign"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it } from "vitest"
import { runWorker } from "../runWorker.ts"
import { verifySignatures } from "./verifySignatures.ts"

const url = migratedDatabase()

const onDatabase = <A, E>(effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof adaptersFor>>>) =>
  Effect.runPromise(Effect.provide(effect, adaptersFor(url())))

const lostKeys = Layer.provide(
  // Layers are shared otherwise, and with them the other cipher.
  Layer.fresh(SenderRepositoryPg),
  Layer.succeed(SecretCipher, SecretCipher.make(singleKey(Redacted.make(Buffer.alloc(32, 9))))),
)

/** Starts a campaign whose organization has a live sender at a domain of its own. */
const launch = Effect.fnUntraced(function* (domain: string, recipients: number, programId?: ProgramId, ramp?: Ramp) {
  const { organization, program, campaign } = yield* seedCampaign({ recipients, emailDomain: `of.${domain}` })
  const pair = yield* generateDkimKeyPair
  const { id, keys } = yield* addSender(
    {
      organizationId: organization.id,
      programId: programId ?? null,
      from: { name: "Sender", address: `outreach@${domain}` },
      replyTo: `replies@${domain}`,
      bounceDomain: `bounces.${domain}`,
      linkDomain: `click.${domain}`,
      ramp: ramp ?? null,
    },
    { ...pair, selector: "s1" },
    null,
  )
  const senders = yield* SenderRepository
  yield* senders.activate(id)
  return { program, campaign, id, senders, record: `v=DKIM1; k=rsa; p=${keys[0]!.publicKey}` }
})

/** Verifies a message's signatures; returns the result of each selector. */
const verify = async (text: string, records: Readonly<Record<string, string>>) => {
  const results = await verifySignatures(text, records)
  return Object.fromEntries(
    results.map(({ selector, signingDomain, status }) => [`${selector} ${signingDomain}`, status]),
  )
}

describe("a campaign", () => {
  it("is sent in the name of its organization's sender, signed by both keys of a rotation, or in the deployment's", async () => {
    const { own, second } = await onDatabase(
      Effect.gen(function* () {
        const own = yield* launch("acme.test", 2)
        const next = { ...(yield* generateDkimKeyPair), selector: "s2" }
        yield* own.senders.addKey(own.id, next)
        yield* own.senders.activate(own.id)
        yield* (yield* LinkDomainRepository).verify(own.campaign.organizationId, "click.acme.test")
        yield* sendCampaign(own.campaign.id)
        yield* sendCampaign((yield* launch("pending.test", 1)).campaign.id)
        yield* sendCampaign((yield* seedCampaign({ recipients: 1, emailDomain: "of.nobody.test" })).campaign.id)
        return { own, second: `v=DKIM1; k=rsa; p=${next.publicKey}` }
      }),
    )
    const mail = await mailServer()
    await runWorker(url(), { SMTP_URL: mail.url, MAIL_FROM: "Deployment <outreach@deployment.test>" })
    const messages = await eventually(
      () => mail.messages,
      ({ length }) => length === 4,
    )
    const records = { "s1._domainkey.acme.test": own.record, "s2._domainkey.acme.test": second }
    for (const { to, text } of messages) {
      const linkBase = to[0]!.endsWith("@of.acme.test") ? "https://click.acme.test" : "http://127.0.0.1:8080"
      const linkBases = new Set(text.replaceAll(/=\r\n/g, "").match(/https?:\/\/[^/"]+(?=\/(?:l|o|unsubscribe)\/)/g))
      expect(linkBases).toEqual(new Set([linkBase]))
    }
    for (const { to, from, text } of messages) {
      if (to[0]!.endsWith("@of.pending.test")) continue
      const isOwn = to[0]!.endsWith("@of.acme.test")
      const domain = isOwn ? "acme.test" : "deployment.test"
      expect(text).toMatch(new RegExp(`^Message-ID: <rcp_[0-9a-f]{32}@${domain}>`, "m"))
      expect(from).toMatch(new RegExp(`^bounce-[0-9a-f-]+@${isOwn ? "bounces.acme.test" : domain}$`))
      expect(text).toContain(`From: ${isOwn ? "Sender" : "Deployment"} <outreach@${domain}>`)
      expect(text.includes("Reply-To: replies@acme.test")).toBe(isOwn)
      expect(await verify(text, records)).toEqual(
        isOwn
          ? {
              "s1 acme.test": expect.objectContaining({ result: "pass", aligned: "acme.test" }),
              "s2 acme.test": expect.objectContaining({ result: "pass", aligned: "acme.test" }),
            }
          : { "undefined undefined": { result: "none", comment: "message not signed" } },
      )
    }
  })

  it("waits while the key of its sender cannot be read, and others go on", async () => {
    const { waiting } = await onDatabase(
      Effect.gen(function* () {
        const waiting = yield* Effect.provide(launch("lost.test", 3), lostKeys)
        yield* sendCampaign(waiting.campaign.id)
        yield* sendCampaign((yield* launch("found.test", 3)).campaign.id)
        return { waiting }
      }),
    )
    const mail = await mailServer()
    const worker = await runWorker(url(), { SMTP_URL: mail.url })
    const failures = () =>
      onDatabase(
        SqlClient.SqlClient.use(
          (sql) => sql<{ attempts: number; failure: string; later: boolean }>`
            select attempts, failure_class as failure, due_at > clock_timestamp() + interval '10 minutes' as later
            from messages where campaign_id = ${waiting.campaign.id} and lease_token is null and failure_class is not null`,
        ),
      )
    const put = { attempts: 0, failure: "sender", later: true }
    expect(await eventually(failures, ({ length }) => length === 3)).toEqual([put, put, put])
    await eventually(
      () => mail.messages,
      ({ length }) => length === 3,
    )
    expect(mail.messages.map(({ to }) => to[0]!.split("@")[1])).toEqual(Array(3).fill("of.found.test"))
    expect(worker.text).toContain("DKIM key of a sender cannot be read, its messages wait")
    expect(worker.text).toContain(waiting.id)
  })

  it("sends as many messages a day as its sender's ramp allows, with two workers, and others go on", async () => {
    const { warming } = await onDatabase(
      Effect.gen(function* () {
        const warming = yield* launch("new.test", 60, undefined, "7,19")
        yield* sendCampaign(warming.campaign.id)
        yield* sendCampaign((yield* launch("known.test", 30)).campaign.id)
        return { warming }
      }),
    )
    const mail = await mailServer()
    const sent = (domain: string) => mail.messages.filter(({ to }) => to[0]!.endsWith(`@of.${domain}`)).length
    await Promise.all([runWorker(url(), { SMTP_URL: mail.url }), runWorker(url(), { SMTP_URL: mail.url })])
    const untilSent = (ofNew: number) =>
      eventually(
        () => [sent("new.test"), sent("known.test")],
        ([first, second]) => first! >= ofNew && second === 30,
      )
    await untilSent(7)
    const giveTurns = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      for (const table of ["campaign_turns", "organization_turns"]) {
        yield* sql`update ${sql(table)} set next_at = '-infinity'`
      }
    })
    // Claims that look at the new sender's campaign first.
    const sendAnother = async (domain: string) => {
      const { campaign } = await onDatabase(launch(domain, 5))
      await onDatabase(Effect.andThen(giveTurns, sendCampaign(campaign.id)))
      await eventually(
        () => sent(domain),
        (count) => count === 5,
      )
    }
    await sendAnother("second.test")
    expect(sent("new.test")).toBe(7)
    const nextDay = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`update sender_ramps set counted_on = counted_on - 1`
      yield* giveTurns
    })
    await onDatabase(nextDay)
    await untilSent(26)
    await sendAnother("third.test")
    expect(sent("new.test")).toBe(26)
    await onDatabase(nextDay)
    await untilSent(60)
    expect((await onDatabase(SenderRepository.use(({ find }) => find(warming.id)))).ramp).toEqual({
      ...{ daily: "7,19", day: 3, sentToday: null, allowedToday: null },
    })
  })
})
