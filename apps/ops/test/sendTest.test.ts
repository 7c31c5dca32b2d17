import { generateKeyPairSync } from "node:crypto"
import { TrackingLinks } from "@outreach/domain/hits/TrackingLinks"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { SECRETS_RING } from "@outreach/testing/adaptersFor"
import { mailServer } from "@outreach/testing/mailServer"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, meanwhile } = commandLine()

let campaign: string
beforeAll(async () => {
  campaign = (await meanwhile(seedCampaign({ recipients: 1 }))).campaign.id
})

const MAIL_FROM = "Acme Outreach <outreach@acme.test>"
const send = (settings: Record<string, string>, to = "me@acme.test") =>
  run(["campaigns", "test", campaign, "--to", to, "--output", "json"], { MAIL_FROM, ...settings })

/** Decodes quoted-printable text. */
const unquoted = (text: string) => text.replaceAll(/=\r?\n/g, "").replaceAll("=3D", "=")

describe("campaigns test", () => {
  it("sends one message that is marked as a test, signed and with the return path that the settings name", async () => {
    const server = await mailServer()
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 1024 })
    const { code, stdout } = await send({
      SMTP_URL: server.url,
      BOUNCE_DOMAIN: "bounces.acme.test",
      DKIM_KEY: privateKey.export({ type: "pkcs8", format: "der" }).toString("base64"),
      DKIM_SELECTOR: "s1",
    })
    const shown = JSON.parse(stdout)
    expect({ code, shown }).toEqual({
      code: 0,
      shown: {
        campaign_id: campaign,
        subject: "[Test] An invitation to Heart failure",
        message_id: expect.stringMatching(/^<rcp_[0-9a-f]{32}@acme\.test>$/),
        reply: expect.stringMatching(/^250 /),
      },
    })
    expect(server.messages).toHaveLength(1)
    const [{ from, to, text }] = server.messages as [(typeof server.messages)[0]]
    expect({ from, to }).toEqual({
      from: expect.stringMatching(/^bounce-[0-9a-f]{32}-\w+@bounces\.acme\.test$/),
      to: ["me@acme.test"],
    })
    for (const header of [
      "Subject: [Test] An invitation to Heart failure",
      `X-Outreach-Test: ${campaign}`,
      "From: Acme Outreach <outreach@acme.test>",
      `Message-ID: ${shown.message_id}`,
      "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
    ]) {
      expect(text).toContain(header)
    }
    for (const signed of ["DKIM-Signature: ", "d=acme.test;", "s=s1;"]) expect(text).toContain(signed)
  })

  it("carries links that this deployment did not make, so that they record nothing for anybody", async () => {
    const server = await mailServer()
    await send({ SMTP_URL: server.url })
    const text = unquoted(server.messages[0]!.text)
    const links = [...text.matchAll(/127\.0\.0\.1:8080(\/[lo]\/|\/unsubscribe\/)([\w-]+)/g)]
    expect(new Set(links.map(([, path]) => path))).toEqual(new Set(["/o/", "/unsubscribe/"]))
    const readable = await Effect.runPromise(
      Effect.map(TrackingLinks, ({ read }) =>
        links.flatMap(([, , payload]) =>
          (["click", "open", "unsubscribe"] as const).map((kind) => read(kind, payload!)),
        ),
      ).pipe(
        Effect.provide(
          TrackingLinks.below("http://127.0.0.1:8080").pipe(Layer.provide(NodeTrackingSeal(SECRETS_RING))),
        ),
      ),
    )
    expect(readable.every((link) => link === undefined)).toBe(true)
    const [recipient] = await meanwhile(
      SqlClient.SqlClient.use(
        (sql) => sql<{ id: string; token: string }>`select id, token from recipients where campaign_id = ${campaign}`,
      ),
    )
    for (const personal of [recipient!.id, recipient!.token]) expect(text).not.toContain(personal)
  })

  it("shows a sample for each field, and names the one that a template lacks", async () => {
    const server = await mailServer()
    const { id } = (await meanwhile(seedCampaign({ recipients: 1, fields: ["first_name", "specialty"] }))).campaign
    const write = (subject: string, html: string) =>
      meanwhile(
        SqlClient.SqlClient.use(
          (sql) => sql`update campaigns set subject = ${subject}, html = ${html} where id = ${id}`,
        ),
      )
    const test = () =>
      run(["campaigns", "test", id, "--to", "me@acme.test", "--output", "json"], { MAIL_FROM, SMTP_URL: server.url })
    await write("For {{ first_name }}", '<p>{{ specialty }}, {{ first_name | default: "friend" }}</p>')
    expect(JSON.parse((await test()).stdout).subject).toBe("[Test] For [first_name]")
    expect(unquoted(server.messages[0]!.text)).toContain("<p>[specialty], [first_name]</p>")

    // As a database of another release may hold it: `campaigns create` refuses such a template.
    await write("For you", "<p>{{ nickname }}</p>")
    const { code, stdout } = await test()
    expect({ code, error: JSON.parse(stdout).error }).toMatchObject({
      code: 1,
      error: {
        code: "message_not_rendered",
        message: "A template of the campaign needs nickname, which is missing.",
      },
    })
    expect(server.messages).toHaveLength(1)
  })

  it("says in one sentence why the server did not take it, without the address", async () => {
    const server = await mailServer({ at: "rcpt", reply: "554 5.7.1 <me@acme.test>: Relay access denied" })
    const { code, stdout } = await send({ SMTP_URL: server.url })
    expect({ code, error: JSON.parse(stdout).error }).toMatchObject({
      code: 1,
      error: {
        code: "mail_not_sent",
        message: "The SMTP server did not take the message: 554 5.7.1 at RCPT TO.",
      },
    })
    const silent = await send({ SMTP_URL: "smtp://127.0.0.1:1" })
    expect(JSON.parse(silent.stdout).error).toMatchObject({ code: "mail_not_sent", reason: "ECONNREFUSED at CONN" })
  })

  it("needs the worker's settings, and an address", async () => {
    const { stdout } = await send({ MAIL_FROM: "" })
    expect(JSON.parse(stdout).error).toMatchObject({ code: "configuration" })
    expect((await send({ SMTP_URL: "smtp://127.0.0.1:1" }, "me")).code).toBe(2)
  })
})
