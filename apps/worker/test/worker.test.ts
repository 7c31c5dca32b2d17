import { describe, expect, it } from "@effect/vitest"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { TrackingLinks } from "@outreach/domain/hits/TrackingLinks"
import { ReturnPaths } from "@outreach/domain/mail/ReturnPaths"
import type { SmtpTimeouts } from "@outreach/mail/SmtpSession"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { schedule } from "@outreach/retry-policy"
import { SECRETS_RING } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { partner } from "@outreach/testing/partner"
import { HttpWebhookClient, NodeSigner } from "@outreach/webhooks/HttpWebhookClient"
import { Effect, Layer, Redacted, References } from "effect"
import { onTestFinished } from "vitest"
import { deliver } from "../src/deliveries/deliver.ts"
import { publish } from "../src/mail/publish.ts"
import { SmtpMailer } from "../src/mail/SmtpMailer.ts"
import { sendOutreach } from "../src/mail/sendOutreach.ts"
import { journey } from "./journey.ts"

const { run, launch, deliveries, takeAll, query } = journey()

/** Runs the loops until the test is finished. */
const work = (
  options: {
    readonly schedule?: string
    readonly smtpUrl?: string
    readonly timeouts?: Partial<SmtpTimeouts>
    /** Changes how the leases of the log are kept. */
    readonly leases?: (leases: DeliveryLeases["Service"]) => DeliveryLeases["Service"]
  } = {},
) => {
  const from = { name: "", address: "outreach@acme.test" }
  const sender = { id: null, from, replyTo: null, bounceDomain: null, linkDomain: null, dkim: null }
  const loops = Effect.all(
    [
      publish,
      deliver({
        schedule: schedule(options.schedule ?? "1h"),
        drainSeconds: 0,
        maxInFlight: 100,
        perEndpoint: 16,
        callSeconds: 15,
        leaseSeconds: 9,
      }).pipe(Effect.updateService(DeliveryLeases, options.leases ?? ((leases) => leases))),
      sendOutreach({ sender, drainSeconds: 0, bouncePort: 25, perMinute: null, perDomainMinute: null }),
    ],
    { concurrency: "unbounded", discard: true },
  ).pipe(
    Effect.provide(
      Layer.mergeAll(
        HttpWebhookClient({ allowPrivateAddresses: true, callMs: 15_000 }),
        SmtpMailer({
          url: Redacted.make(options.smtpUrl ?? "smtp://127.0.0.1:1"),
          ...(options.timeouts && { timeouts: options.timeouts }),
        }),
        NodeSigner,
        Layer.merge(TrackingLinks.below("https://outreach.test"), ReturnPaths.at("bounces.acme.test")).pipe(
          Layer.provide(NodeTrackingSeal(SECRETS_RING)),
        ),
        Layer.succeed(References.MinimumLogLevel, "None"),
      ),
    ),
  )
  const stop = new AbortController()
  const stopped = run(
    Effect.raceFirst(
      loops,
      Effect.callback<void>((resume) => {
        stop.signal.addEventListener("abort", () => resume(Effect.void))
      }),
    ),
  )
  onTestFinished(() => {
    stop.abort()
    return stopped
  })
}

describe("a campaign", () => {
  it("is published, delivered, sent, and its sending delivered", async () => {
    const to = await partner()
    const mail = await mailServer()
    const { campaign } = await launch(to, 3)
    work({ smtpUrl: mail.url })

    const received = await eventually(
      () => to.received,
      ({ length }) => length === 4,
    )
    const [published, ...sent] = received.map(({ event }) => event)
    expect(published?.event_type).toBe("outreach.recipients_published")
    const recipients = published?.data["recipients"] as { token: string; email: string; service_recipient_id: string }[]
    expect(sent.map(({ event_type }) => event_type)).toEqual(Array(3).fill("outreach.email_sent"))
    expect(new Set(sent.map(({ data }) => data["token"]))).toEqual(new Set(recipients.map(({ token }) => token)))
    expect(to.forged).toEqual([])

    expect(mail.messages.flatMap((message) => message.to).sort()).toEqual(recipients.map(({ email }) => email).sort())
    for (const { token, email, service_recipient_id } of recipients) {
      const message = mail.messages.find((message) => message.to[0] === email)
      expect(message?.text).toContain(`https://l.test/${token}`)
      expect(message?.text).toContain("Subject: An invitation to Heart failure")
      expect(message?.text).toContain(`<${service_recipient_id}@acme.test>`)
    }
    const status = () => run(Effect.flatMap(CampaignRepository, (book) => book.find(campaign.id)))
    expect((await eventually(status, ({ status }) => status === "completed")).status).toBe("completed")
  })

  it("announces an address that does not exist as bounced", async () => {
    const to = await partner()
    await launch(to, 1)
    work({ smtpUrl: (await mailServer({ at: "rcpt", reply: "550 5.1.1 No such user" })).url })
    const [, bounced] = await eventually(
      () => to.received,
      ({ length }) => length === 2,
    )
    expect(bounced?.event).toMatchObject({
      event_type: "outreach.email_bounced",
      data: { bounce_reason: "mailbox_not_found" },
    })
  })
})

describe("a message", () => {
  const waiting = (campaignId: string) => () =>
    query<{ attempts: number; wait: number }>(
      (sql) => sql`
        select attempts, extract(epoch from due_at - clock_timestamp())::int as wait from messages
        where campaign_id = ${campaignId}`,
    )

  it.each([
    ["because the mailbox defers it", { at: "rcpt", reply: "450 4.2.0 Try later" }, { attempts: 1, wait: 60 }],
    ["because the server greylists it", { at: "rcpt", reply: "450 4.2.0 Greylisted" }, { attempts: 1, wait: 300 }],
    ["because the refusal is about us", { at: "rcpt", reply: "550 5.7.1 Blocked" }, { attempts: 0, wait: 3600 }],
    ["because the server is closing", { at: "connect", reply: "421 4.3.2 Closing" }, { attempts: 0, wait: 60 }],
  ] as const)("waits %s, and only what the mailbox defers counts against it", async (_, answer, expected) => {
    const { campaign } = await launch(await partner(), 1)
    work({ smtpUrl: (await mailServer(answer)).url })
    const [message] = await eventually(waiting(campaign.id), ([message]) => (message?.wait ?? 0) > 10)
    expect(message?.attempts).toBe(expected.attempts)
    expect(Math.abs(message!.wait - expected.wait)).toBeLessThan(10)
  })
})

describe("a message that is sent and never answered", () => {
  it("waits for an hour, is counted, and does not count against the mailbox", async () => {
    const { campaign } = await launch(await partner(), 1)
    const mail = await mailServer(undefined, () => new Promise(() => {}))
    work({ smtpUrl: mail.url, timeouts: { finalMs: 100 } })
    const message = () =>
      query<{ unknown: number }>(
        (sql) => sql`
          select attempts, unknown_outcomes as "unknown", failure_class as class, due_at > clock_timestamp() + interval '59 minutes' as later
          from messages where campaign_id = ${campaign.id}`,
      )
    const expected = [{ attempts: 0, unknown: 1, class: "slow", later: true }]
    expect(await eventually(message, ([row]) => row?.unknown === 1)).toEqual(expected)
    expect(mail.messages).toHaveLength(1)
  })
})

describe("a relay that denies us before we logged in", () => {
  it("pauses no recipient domain, and stands in what a campaign shows", async () => {
    const { campaign } = await launch(await partner(), 1)
    work({ smtpUrl: (await mailServer({ at: "rcpt", reply: "554 5.7.1 Relay access denied" })).url })
    const failures = () => run(Effect.flatMap(CampaignRepository, (book) => book.failures(campaign.id)))
    expect(await eventually(failures, ({ length }) => length > 0)).toEqual([
      { class: "relay_denied", code: "554 5.7.1 to RCPT TO", messages: 1 },
    ])
    expect(await run(Effect.flatMap(CampaignRepository, (book) => book.pauses(campaign.id)))).toEqual([])
  })
})

describe("a delivery", () => {
  it("is not held up by another organization's secret that cannot be decrypted", async () => {
    const other = await partner()
    const to = await partner()
    const { organization } = await launch(other, 1)
    await query(
      (sql) => sql`update signing_secrets set ciphertext = '\\x00' where organization_id = ${organization.id}`,
    )
    const { endpoint } = await launch(to, 1)
    work()
    const [delivery] = await eventually(
      () => deliveries(endpoint.id),
      ([delivery]) => delivery?.state === "delivered",
    )
    expect(delivery?.state).toBe("delivered")
    expect(other.received).toEqual([])
  })

  it("is tried again after 5xx with the same event, until it is delivered", async () => {
    const to = await partner(({ attempt }, response) => response.writeHead(attempt < 3 ? 503 : 200).end())
    const { endpoint } = await launch(to, 1)
    work({ schedule: "0s,0s,1h" })
    const [delivery] = await eventually(
      () => deliveries(endpoint.id),
      ([delivery]) => delivery?.state === "delivered",
    )
    expect(delivery).toMatchObject({ state: "delivered", attempts: 3 })
    expect(delivery!.made).toMatchObject([
      { number: 1, outcome: "server_error", status: 503 },
      { number: 2, outcome: "server_error", status: 503 },
      { number: 3, outcome: "success", status: 200 },
    ])
    expect(new Set(to.received.map(({ event }) => event.event_id)).size).toBe(1)
    expect(to.received.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
  })

  it("is tried again though the answer to taking it was lost", async () => {
    const to = await partner(({ attempt }, response) => response.writeHead(attempt < 2 ? 503 : 200).end())
    const { endpoint } = await launch(to, 1)
    let lost = 0
    work({
      schedule: "0s,0s,1h",
      leases: (leases) => ({
        ...leases,
        takeDue: (...asked) =>
          Effect.flatMap(leases.takeDue(...asked), (taken) =>
            taken.length > 0 && lost++ === 0 ? Effect.die(new Error("the connection broke")) : Effect.succeed(taken),
          ),
      }),
    })
    const [delivery] = await eventually(
      () => deliveries(endpoint.id),
      ([delivery]) => delivery?.state === "delivered",
    )
    expect(delivery).toMatchObject({ state: "delivered", attempts: 2 })
    expect(lost).toBeGreaterThan(1)
  })

  it("goes to the dead letters as rejected at the first 4xx", async () => {
    const to = await partner((_, response) => response.writeHead(410).end("gone"))
    const { endpoint } = await launch(to, 1)
    work({ schedule: "0s,0s" })
    const [delivery] = await eventually(
      () => deliveries(endpoint.id),
      ([delivery]) => delivery?.state === "rejected",
    )
    expect(delivery).toMatchObject({ state: "rejected", attempts: 1 })
    expect(to.received).toHaveLength(1)
  })

  it("goes to the dead letters as exhausted after the last attempt of the schedule", async () => {
    const to = await partner((_, response) => response.socket?.destroy())
    const { endpoint } = await launch(to, 1)
    work({ schedule: "0s,0s" })
    const [delivery] = await eventually(
      () => deliveries(endpoint.id),
      ([delivery]) => delivery?.state === "exhausted",
    )
    expect(delivery).toMatchObject({ state: "exhausted", attempts: 3 })
    expect(delivery!.made.map(({ outcome }) => outcome)).toEqual(["reset", "reset", "reset"])
  })

  it("is not settled by a worker that has lost the endpoint", async () => {
    let giveBack: (() => Promise<unknown>) | undefined
    const to = await partner(async (_, response) => {
      // Another worker takes the endpoint while this one is still waiting for the first answer.
      giveBack ??= await takeAll()
      response.writeHead(200).end()
    })
    const other = await partner()
    const { endpoint } = await launch(to, 1)
    work()
    await eventually(
      () => to.received.length === 1 && giveBack !== undefined,
      (taken) => taken,
    )
    // A second journey, begun after the answer and brought to its end, shows that the worker is past the first.
    const { endpoint: otherEndpoint } = await launch(other, 1)
    await eventually(
      () => deliveries(otherEndpoint.id),
      ([delivery]) => delivery?.state === "delivered",
    )
    const [delivery] = await deliveries(endpoint.id)
    expect(delivery).toMatchObject({ state: "sending", attempts: 0 })
    expect(delivery!.made).toEqual([])
    // Once it has the endpoint again, it makes the attempt again.
    await giveBack!()
    const [delivered] = await eventually(
      () => deliveries(endpoint.id),
      ([delivery]) => delivery?.state === "delivered",
    )
    expect(delivered!.made).toMatchObject([
      { number: 1, outcome: "outcome_unknown", status: null },
      { number: 1, outcome: "success", status: 200 },
    ])
    expect(new Set(to.received.map(({ deliveryId }) => deliveryId)).size).toBe(1)
  })

  it("is not delayed by another endpoint that never answers", async () => {
    const dead = await partner(() => {})
    const to = await partner()
    await launch(dead, 1)
    work()
    await eventually(
      () => dead.received,
      ({ length }) => length === 1,
    )
    await launch(to, 1)
    expect(
      await eventually(
        () => to.received,
        ({ length }) => length === 1,
        5000,
      ),
    ).toHaveLength(1)
  })

  it("arrives though the database dropped every connection", async () => {
    const to = await partner()
    work()
    await query(
      (sql) => sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
    )
    await eventually(
      () =>
        launch(to, 1).then(
          () => true,
          () => false,
        ),
      (launched) => launched,
    )
    expect(
      await eventually(
        () => to.received,
        ({ length }) => length >= 1,
      ),
    ).toHaveLength(1)
  })
})
