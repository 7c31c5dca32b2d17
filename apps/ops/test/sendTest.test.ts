import { TrackingLinks } from "@outreach/domain/hits/TrackingLinks"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { SECRETS_RING } from "@outreach/testing/adaptersFor"
import { CLOSED_ADDRESS } from "@outreach/testing/listen"
import { mailServer } from "@outreach/testing/mailServer"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect, Layer } from "effect"
import { beforeEach, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, meanwhile } = commandLine()

const SETTINGS = {
  MAIL_FROM: "Acme Outreach <outreach@acme.test>",
  BOUNCE_DOMAIN: "bounces.acme.test",
  PUBLIC_BASE_URL: "https://outreach.test",
}
const CLOSED = `smtp://${CLOSED_ADDRESS}`

let campaign: string
beforeEach(async () => {
  campaign = (await meanwhile(seedCampaign({ recipients: 1 }))).campaign.id
})

/** Runs `campaigns test`, and returns its exit code with its value or its error. */
const send = async (smtpUrl: string, flags: ReadonlyArray<string>, changes: Readonly<Record<string, string>> = {}) => {
  const args = ["campaigns", "test", campaign, ...flags, "--output", "json"]
  const { code, stdout } = await run(args, { ...SETTINGS, SMTP_URL: smtpUrl, ...changes })
  return { code, ...JSON.parse(stdout) }
}
const toMe = ["--to", "me@acme.test"]

/** Decodes quoted-printable text. */
const unquoted = (text: string) => text.replaceAll(/=\r?\n/g, "").replaceAll("=3D", "=")

const sealed = NodeTrackingSeal(SECRETS_RING)
const { read } = Effect.runSync(
  Effect.provide(TrackingLinks, TrackingLinks.below("https://outreach.test").pipe(Layer.provide(sealed))),
)

/** Returns the payloads of the links in a message. */
const payloadsIn = (text: string) =>
  [...unquoted(text).matchAll(/outreach\.test(\/[lo]\/|\/unsubscribe\/)([\w-]+)/g)].map(
    ([, path, payload]) => [path!, payload!] as const,
  )

describe("campaigns test --to", () => {
  it("sends one message that is marked as a test, with links and a return path that record no data", async () => {
    const server = await mailServer()
    const shown = await send(server.url, toMe)
    expect(shown).toEqual({
      ...{ code: 0, campaign_id: campaign, subject: "[Test] An invitation to Heart failure" },
      message_id: expect.stringMatching(/^<rcp_[0-9a-f]{32}@acme\.test>$/),
      reply: expect.stringMatching(/^250 /),
    })
    expect(server.messages).toMatchObject([
      { from: expect.stringMatching(/^bounce-[0-9a-f]{32}-\w+@bounces\.acme\.test$/), to: ["me@acme.test"] },
    ])
    const { text } = server.messages[0]!
    for (const header of [
      "Subject: [Test] An invitation to Heart failure",
      `X-Outreach-Test: ${campaign}`,
      "From: Acme Outreach <outreach@acme.test>",
      `Message-ID: ${shown.message_id}`,
      "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
    ]) {
      expect(text).toContain(header)
    }
    const payloads = payloadsIn(text)
    expect(new Set(payloads.map(([path]) => path))).toEqual(new Set(["/o/", "/unsubscribe/"]))
    const readable = payloads.flatMap(([, payload]) =>
      (["click", "open", "unsubscribe"] as const).map((kind) => read(kind, payload)),
    )
    expect(readable.every((link) => link === undefined)).toBe(true)
    const [recipient] = await meanwhile(
      sql<{ id: string; token: string }>`select id, token from recipients where campaign_id = ${campaign}`,
    )
    for (const personal of [recipient!.id, recipient!.token]) expect(text).not.toContain(personal)
  })

  it("fails with one sentence if the server rejects the message, or a setting or the address is wrong", async () => {
    const server = await mailServer({ at: "rcpt", reply: "554 5.7.1 <me@acme.test>: Relay access denied" })
    const message = "The mail server didn't accept the message: 554 5.7.1 to RCPT TO."
    expect(await send(server.url, toMe)).toMatchObject({ code: 1, error: { code: "mail_not_sent", message } })
    const closed = await send(CLOSED, toMe)
    expect(closed.error).toMatchObject({ code: "mail_not_sent", reason: "ECONNREFUSED" })
    expect((await send(CLOSED, toMe, { MAIL_FROM: "" })).error).toMatchObject({ code: "configuration" })
    expect((await send(CLOSED, ["--to", "me"])).code).toBe(2)
    expect((await send(CLOSED, [])).code).toBe(2)
  })
})
