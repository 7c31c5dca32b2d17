import { createServer } from "node:http"
import { json } from "node:stream/consumers"
import { TrackingLinks } from "@outreach/domain/hits/TrackingLinks"
import type { RecipientId } from "@outreach/domain/Identifier"
import { reportBounce } from "@outreach/domain/mail/returned/Bounces"
import { ReturnPaths } from "@outreach/domain/mail/returned/ReturnPaths"
import { type MailOutcome, Transport } from "@outreach/domain/mail/Transport"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { SECRETS_RING } from "@outreach/testing/adaptersFor"
import { listen } from "@outreach/testing/listen"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { email, seedCampaign } from "@outreach/testing/seedCampaign"
import { sendCampaign } from "@outreach/testing/sendCampaign"
import { column, value } from "@outreach/testing/sql"
import { Effect, Layer, Schedule } from "effect"
import { expect } from "vitest"
import { sendOutreach } from "../../src/mail/sendOutreach.ts"
import { mailTo } from "./testMail.ts"

const addresses = Layer.merge(TrackingLinks.below("https://outreach.test"), ReturnPaths.at("bounces.acme.test"))
const { test } = testsOnDatabase({ layer: Layer.provide(addresses, NodeTrackingSeal(SECRETS_RING)) })

interface Accepted {
  readonly from: string
  readonly to: string
  readonly raw: string
}

/** Starts an HTTP API that accepts messages, except for one address. */
const startProvider = async (unknown: string) => {
  const accepted: Accepted[] = []
  const port = await listen(
    createServer(async (request, response) => {
      const message = (await json(request)) as Accepted
      if (message.to !== unknown) accepted.push(message)
      response.writeHead(message.to === unknown ? 422 : 202).end()
    }),
  )
  return { url: `http://127.0.0.1:${port}`, accepted }
}

/** Delivers by that API. */
const providerTransport = (url: string) =>
  Layer.succeed(Transport, {
    deliver: ({ envelope, message }, mayComplete) =>
      Effect.promise(async (signal): Promise<MailOutcome> => {
        if (!mayComplete()) return { _tag: "Late" }
        const body = JSON.stringify({ ...envelope, raw: Buffer.from(message).toString("base64") })
        try {
          const { ok, status } = await fetch(url, { method: "POST", signal, body })
          if (ok) return { _tag: "Accepted" }
          if (status === 422) return { _tag: "Bounced", reason: "mailbox_not_found" }
          return { _tag: "Unreachable", failure: { class: "rejected", code: String(status) } }
        } catch {
          return { _tag: "Unknown", failure: { class: "reset", code: "ECONNRESET" } }
        }
      }),
  })

test("a provider's HTTP API sends a campaign, and its later bounces are recorded", function* () {
  const { campaign } = yield* seedCampaign({ recipients: 2 })
  const provider = yield* Effect.promise(() => startProvider(email(1)))
  yield* sendCampaign(campaign.id)
  const { sender } = mailTo("")
  const settings = { sender, drainSeconds: 0, bouncePort: null, perMinute: null, perDomainMinute: null }
  const events = column<string>`
    select type from events where campaign_id = ${campaign.id} and type <> 'outreach.recipients_published' order by type`
  const settled = yield* Effect.raceFirst(
    Effect.repeat(events, { until: ({ length }) => length === 2, schedule: Schedule.spaced("20 millis") }),
    Effect.provide(sendOutreach(settings), providerTransport(provider.url)),
  )
  expect(settled).toEqual(["outreach.email_bounced", "outreach.email_sent"])
  expect(provider.accepted).toMatchObject([{ to: email(0), from: expect.stringContaining("@bounces.acme.test") }])
  expect(Buffer.from(provider.accepted[0]!.raw, "base64").toString()).toContain("Subject:")

  const sent = yield* value<RecipientId>`
    select id from recipients where campaign_id = ${campaign.id} and sent_at is not null`
  // The provider's webhook calls the use case of a returned message.
  expect(yield* reportBounce(sent, { _tag: "Bounced", reason: "mailbox_not_found" })).toBe("recorded")
  expect(yield* events).toEqual(["outreach.email_bounced", "outreach.email_bounced", "outreach.email_sent"])
})
