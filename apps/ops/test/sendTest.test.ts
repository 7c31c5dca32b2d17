import { writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { HitRepository } from "@outreach/domain/hits/HitRepository"
import { TrackingLinks } from "@outreach/domain/hits/TrackingLinks"
import { createIdentifier } from "@outreach/domain/Identifier"
import { reportBounce } from "@outreach/domain/mail/Bounces"
import { ReturnPaths } from "@outreach/domain/mail/ReturnPaths"
import { SeedRepository } from "@outreach/domain/mail/SeedRepository"
import { UnsubscriptionRepository } from "@outreach/domain/suppressions/UnsubscriptionRepository"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { SECRETS_RING } from "@outreach/testing/adaptersFor"
import { CLOSED_ADDRESS } from "@outreach/testing/listen"
import { mailServer } from "@outreach/testing/mailServer"
import { email, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, meanwhile } = commandLine()

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
const returnPaths = Effect.runSync(
  Effect.provide(ReturnPaths, ReturnPaths.at("bounces.acme.test").pipe(Layer.provide(sealed))),
)

/** Returns the payloads of the links in a message. */
const payloadsIn = (text: string) =>
  [...unquoted(text).matchAll(/outreach\.test(\/[lo]\/|\/unsubscribe\/)([\w-]+)/g)].map(
    ([, path, payload]) => [path!, payload!] as const,
  )
/** Reads a link in a message, as the deployment does. */
const readLink = (text: string, kind: "open" | "unsubscribe") => {
  const path = { open: "/o/", unsubscribe: "/unsubscribe/" }[kind]
  return read(kind, payloadsIn(text).find(([each]) => each === path)![1])!
}

describe("campaigns test --to", () => {
  it("sends one message that is marked as a test, with links and a return path that record nothing", async () => {
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
      SqlClient.SqlClient.use(
        (sql) => sql<{ id: string; token: string }>`select id, token from recipients where campaign_id = ${campaign}`,
      ),
    )
    for (const personal of [recipient!.id, recipient!.token]) expect(text).not.toContain(personal)
  })

  it("renders a sample for each field, and names a missing field", async () => {
    const server = await mailServer()
    campaign = (await meanwhile(seedCampaign({ recipients: 1, fields: ["first_name", "specialty"] }))).campaign.id
    const write = (subject: string, html: string) =>
      meanwhile(
        SqlClient.SqlClient.use(
          (sql) => sql`update campaigns set subject = ${subject}, html = ${html} where id = ${campaign}`,
        ),
      )
    await write("For {{ first_name }}", '<p>{{ specialty }}, {{ first_name | default: "friend" }}</p>')
    expect((await send(server.url, toMe)).subject).toBe("[Test] For [first_name]")
    expect(unquoted(server.messages[0]!.text)).toContain("<p>[specialty], [first_name]</p>")

    // Only a database of another release can contain such a template.
    await write("For you", "<p>{{ nickname }}</p>")
    const message = "A template of the campaign needs nickname, which is missing."
    expect(await send(server.url, toMe)).toMatchObject({ code: 1, error: { code: "message_not_rendered", message } })
    expect(server.messages).toHaveLength(1)
  })

  it("fails with one sentence if the server rejects the message, or a setting or the address is wrong", async () => {
    const server = await mailServer({ at: "rcpt", reply: "554 5.7.1 <me@acme.test>: Relay access denied" })
    const message = "The SMTP server did not take the message: 554 5.7.1 at RCPT TO."
    expect(await send(server.url, toMe)).toMatchObject({ code: 1, error: { code: "mail_not_sent", message } })
    const closed = await send(CLOSED, toMe)
    expect(closed.error).toMatchObject({ code: "mail_not_sent", reason: "ECONNREFUSED at CONN" })
    expect((await send(CLOSED, toMe, { MAIL_FROM: "" })).error).toMatchObject({ code: "configuration" })
    expect((await send(CLOSED, ["--to", "me"])).code).toBe(2)
    expect((await send(CLOSED, [])).error).toMatchObject({ code: "invalid_selection" })
  })
})

describe("campaigns test --seeds", () => {
  const states = async () => {
    const { data } = await runJson("seeds", "list", "--campaign", campaign)
    return Object.fromEntries(data.map(({ email, state }: Record<string, string>) => [email, state]))
  }

  it("sends the message as a recipient receives it, and shows the replies and what happened later", async () => {
    const server = await mailServer()
    server.replies.set("refusing.test", "550 5.7.1 <me@refusing.test> blocked")
    const names = ["opens", "clicks", "leaves", "bounces", "silent", "refusing"]
    const seeds = names.map((name) => `me@${name}.test`)
    const sent = await send(server.url, ["--seeds", seeds.join(", ")])
    const statesSent = sent.data.map(({ state }: { state: string }) => state).toSorted()
    expect({ code: sent.code, states: statesSent }).toEqual({
      ...{ code: 0, states: [...Array(5).fill("accepted"), "refused"] },
    })
    const { reply } = sent.data.find(({ state }: { state: string }) => state === "refused")
    expect(reply).toBe("550 5.7.1 <[address]> blocked")
    expect(server.messages).toHaveLength(5)
    for (const { text } of server.messages) {
      expect(text).toMatch(/^Subject: An invitation to Heart failure\r$/m)
      expect(text).not.toContain("X-Outreach-Test")
    }
    const messageTo = (name: string) => server.messages.find(({ to }) => to[0] === `me@${name}.test`)!
    const hit = Effect.fnUntraced(function* (name: string, link: string | null) {
      const { organizationId, recipientId } = readLink(messageTo(name).text, "open")
      const about = { organizationId, recipientId, link, method: "GET", address: "192.0.2.1", headers: {} }
      yield* (yield* HitRepository).record([{ ...about, id: yield* createIdentifier("hit"), cameAt: Date.now() }])
    })
    const unsubscription = readLink(messageTo("leaves").text, "unsubscribe")
    const bounced = { _tag: "Bounced", reason: "mailbox_not_found", reply: "550 5.1.1 <me@bounces.test> gone" } as const
    const choices = await meanwhile(
      Effect.gen(function* () {
        yield* hit("opens", null)
        yield* hit("clicks", null)
        yield* hit("clicks", "https://x.test/")
        yield* reportBounce(returnPaths.read(messageTo("bounces").from)!, bounced)
        const repository = yield* UnsubscriptionRepository
        const before = yield* repository.findChoice(unsubscription)
        yield* repository.ask(unsubscription)
        return { before, after: yield* repository.findChoice(unsubscription) }
      }),
    )
    expect(choices).toMatchObject({
      before: { programName: "Heart failure", email: "me@leaves.test", unsubscribedFrom: null },
      after: { unsubscribedFrom: "organization" },
    })
    expect(await states()).toEqual({
      ...{ "me@opens.test": "opened", "me@clicks.test": "clicked", "me@leaves.test": "unsubscribed" },
      ...{ "me@bounces.test": "bounced", "me@silent.test": "accepted", "me@refusing.test": "refused" },
    })
    // Seeds don't count towards any metric.
    const [counted] = await meanwhile(
      SqlClient.SqlClient.use(
        (sql) => sql<Record<string, number>>`
          select (select count(*)::int from recipients where campaign_id = ${campaign}) as recipients,
            (select count(*)::int from campaign_count_changes where campaign_id = ${campaign} and (sent + bounced + opened + clicked + unsubscribed + refused_later > 0)) as changes,
            (select count(*)::int from events where campaign_id = ${campaign} and type <> 'outreach.recipients_published') as events,
            (select count(*)::int from hits) as hits, (select count(*)::int from unsubscriptions) as unsubscriptions,
            (select count(*)::int from organization_suppressions) as suppressions`,
      ),
    )
    expect(counted).toEqual({ recipients: 1, changes: 0, events: 0, hits: 0, unsubscriptions: 0, suppressions: 0 })
  })

  it("shows a bounce that was faster than the reply, an unsubscription that was revoked, and an unreachable server", async () => {
    const server = await mailServer(undefined, ({ from }) =>
      meanwhile(reportBounce(returnPaths.read(from)!, { _tag: "Deferred", reply: "451 4.4.7 expired" })).then(() => {}),
    )
    expect((await send(server.url, ["--seeds", "me@early.test"])).data).toMatchObject([
      { state: "bounced", outcome: "accepted", reply: "451 4.4.7 expired" },
    ])
    const unsubscription = readLink(server.messages[0]!.text, "unsubscribe")
    const revoked = UnsubscriptionRepository.use(({ ask, revoke, findChoice }) =>
      Effect.all([ask(unsubscription), revoke(unsubscription), findChoice(unsubscription)]),
    )
    expect(await meanwhile(revoked)).toMatchObject([true, true, { unsubscribedFrom: null }])
    expect((await send(CLOSED, ["--seeds", "me@away.test"])).data).toMatchObject([
      { email: "me@away.test", state: "unreachable", reply: "ECONNREFUSED at CONN" },
    ])
  })

  it("reads a list from a file, rejects recipients and invalid lists, and forgets old seeds", async () => {
    const server = await mailServer()
    const file = join(tmpdir(), `seeds-${campaign}.txt`)
    writeFileSync(file, "me@one.test\nme@two.test\r\n\nme@one.test\n")
    expect((await send(server.url, ["--seeds", file])).data).toHaveLength(2)
    const error = async (seeds: string) => (await send(server.url, ["--seeds", seeds])).error.code
    expect(await error(`me@one.test,${email(0).toUpperCase()}`)).toBe("seed_is_recipient")
    expect(await error("me@one.test,you@")).toBe("invalid_seeds")
    expect(await error("/nowhere/seeds.txt")).toBe("seeds_unreadable")
    expect(await error(Array.from({ length: 51 }, (_, i) => `me${i}@one.test`).join())).toBe("invalid_seeds")
    expect(server.messages).toHaveLength(2)
    await meanwhile(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`update seed_messages set created_at = created_at - interval '91 days' where email = 'me@one.test'`
        yield* (yield* SeedRepository).forget(90)
      }),
    )
    expect(await states()).toEqual({ "me@two.test": "accepted" })
  })
})
