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
import { mailServer } from "@outreach/testing/mailServer"
import { seedCampaign } from "@outreach/testing/seedCampaign"
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

let campaign: string
let recipientEmail: string
beforeEach(async () => {
  const seeded = await meanwhile(seedCampaign({ recipients: 1 }))
  campaign = seeded.campaign.id
  recipientEmail = await meanwhile(
    SqlClient.SqlClient.use(
      (sql) => sql<{ email: string }>`select email from recipients where campaign_id = ${campaign}`,
    ),
  ).then(([row]) => row!.email)
})

const send = async (url: string, seeds: string) => {
  const { code, stdout } = await run(["campaigns", "test", campaign, "--seeds", seeds, "--output", "json"], {
    ...SETTINGS,
    SMTP_URL: url,
  })
  return { code, ...JSON.parse(stdout) }
}

const states = async () => {
  const { data } = await runJson("seeds", "list", "--campaign", campaign)
  return Object.fromEntries(data.map(({ email, state }: Record<string, string>) => [email, state]))
}

/** Decodes quoted-printable text. */
const unquoted = (text: string) => text.replaceAll(/=\r?\n/g, "").replaceAll("=3D", "=")

/** Reads from a message the links of one kind, as the deployment does. */
const readLink = (text: string, kind: "open" | "unsubscribe") =>
  Effect.runSync(
    TrackingLinks.use(({ read }) => {
      const path = { open: "/o/", unsubscribe: "/unsubscribe/" }[kind]
      const [, payload] = new RegExp(`outreach\\.test${path}([\\w-]+)`).exec(unquoted(text))!
      return Effect.succeed(read(kind, payload!)!)
    }).pipe(
      Effect.provide(TrackingLinks.below("https://outreach.test").pipe(Layer.provide(NodeTrackingSeal(SECRETS_RING)))),
    ),
  )

describe("campaigns test --seeds", () => {
  it("sends the message as a recipient gets it, and shows what each server answered and what came back", async () => {
    const server = await mailServer()
    server.replies.set("refusing.test", "550 5.7.1 <me@refusing.test> blocked")
    const seeds = [
      "me@opens.test",
      "me@clicks.test",
      "me@leaves.test",
      "me@bounces.test",
      "me@silent.test",
      "me@refusing.test",
    ]
    const sent = await send(server.url, seeds.join(", "))
    expect({ code: sent.code, states: sent.data.map(({ state }: { state: string }) => state).toSorted() }).toEqual({
      code: 0,
      states: [...Array(5).fill("accepted"), "refused"],
    })
    const { reply } = sent.data.find(({ state }: { state: string }) => state === "refused")
    expect(reply).toBe("550 5.7.1 <[address]> blocked")
    expect(server.messages).toHaveLength(5)
    for (const { text } of server.messages) {
      expect(text).toMatch(/^Subject: An invitation to Heart failure\r$/m)
      expect(text).not.toContain("X-Outreach-Test")
    }
    const messageTo = (email: string) => server.messages.find(({ to }) => to[0] === email)!
    const hit = async (email: string, link: string | null) => {
      const { organizationId, recipientId } = readLink(messageTo(email).text, "open")
      await meanwhile(
        Effect.gen(function* () {
          const id = yield* createIdentifier("hit")
          const about = { id, organizationId, recipientId, link, method: "GET", address: "192.0.2.1", headers: {} }
          yield* (yield* HitRepository).record([{ ...about, cameAt: Date.now() }])
        }),
      )
    }
    await hit("me@opens.test", null)
    await hit("me@clicks.test", null)
    await hit("me@clicks.test", "https://x.test/")
    const unsubscription = readLink(messageTo("me@leaves.test").text, "unsubscribe")
    const choices = await meanwhile(
      Effect.gen(function* () {
        const repository = yield* UnsubscriptionRepository
        const before = yield* repository.findChoice(unsubscription)
        return {
          before,
          known: yield* repository.ask(unsubscription),
          after: yield* repository.findChoice(unsubscription),
        }
      }),
    )
    expect(choices).toMatchObject({
      before: { programName: "Heart failure", email: "me@leaves.test", unsubscribedFrom: null },
      known: true,
      after: { unsubscribedFrom: "organization" },
    })
    const bounced = await meanwhile(
      Effect.gen(function* () {
        const id = (yield* ReturnPaths).read(messageTo("me@bounces.test").from)!
        const verdict = {
          _tag: "Bounced",
          reason: "mailbox_not_found",
          reply: "550 5.1.1 <me@bounces.test> gone",
        } as const
        return yield* reportBounce(id, verdict)
      }).pipe(Effect.provide(Layer.provide(ReturnPaths.at("bounces.acme.test"), NodeTrackingSeal(SECRETS_RING)))),
    )
    expect(bounced).toBe("recorded")
    expect(await states()).toEqual({
      "me@opens.test": "opened",
      "me@clicks.test": "clicked",
      "me@leaves.test": "unsubscribed",
      "me@bounces.test": "bounced",
      "me@silent.test": "accepted",
      "me@refusing.test": "refused",
    })
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

  it("takes back an unsubscription, keeps what it knows of a bounce that was faster than the answer, and says when a server cannot be reached", async () => {
    const server = await mailServer(undefined, async ({ from }) => {
      await meanwhile(
        Effect.gen(function* () {
          const id = (yield* ReturnPaths).read(from)!
          yield* reportBounce(id, { _tag: "Deferred", reply: "451 4.4.7 expired" })
        }).pipe(Effect.provide(Layer.provide(ReturnPaths.at("bounces.acme.test"), NodeTrackingSeal(SECRETS_RING)))),
      )
    })
    expect((await send(server.url, "me@early.test")).data).toMatchObject([
      { state: "bounced", outcome: "accepted", reply: "451 4.4.7 expired" },
    ])
    const unsubscription = readLink(server.messages[0]!.text, "unsubscribe")
    const revoked = UnsubscriptionRepository.use(({ ask, revoke, findChoice }) =>
      Effect.all([ask(unsubscription), revoke(unsubscription), findChoice(unsubscription)]),
    )
    expect(await meanwhile(revoked)).toMatchObject([true, true, { unsubscribedFrom: null }])
    expect((await send("smtp://127.0.0.1:1", "me@away.test")).data).toMatchObject([
      { email: "me@away.test", state: "unreachable", reply: "ECONNREFUSED at CONN" },
    ])
  })

  it("reads a list from a file, and sends nothing to a recipient, to a bad list, or to nobody", async () => {
    const server = await mailServer()
    const file = join(tmpdir(), `seeds-${campaign}.txt`)
    writeFileSync(file, "me@one.test\nme@two.test\r\n\nme@one.test\n")
    expect((await send(server.url, file)).data).toHaveLength(2)
    const error = async (seeds: string) => (await send(server.url, seeds)).error
    expect(await error(`me@one.test,${recipientEmail.toUpperCase()}`)).toMatchObject({ code: "seed_is_recipient" })
    expect(await error("me@one.test,you@")).toMatchObject({ code: "invalid_seeds" })
    expect(await error("/nowhere/seeds.txt")).toMatchObject({ code: "seeds_unreadable" })
    expect(await error(Array.from({ length: 51 }, (_, i) => `me${i}@one.test`).join())).toMatchObject({
      code: "invalid_seeds",
    })
    expect(server.messages).toHaveLength(2)
    const { code, stdout } = await run(["campaigns", "test", campaign, "--output", "json"])
    expect({ code, error: JSON.parse(stdout).error.code }).toEqual({ code: 1, error: "invalid_selection" })
  })

  it("is forgotten with the history", async () => {
    const server = await mailServer()
    await send(server.url, "me@one.test,me@two.test")
    const forgotten = await meanwhile(
      Effect.gen(function* () {
        const { forget } = yield* SeedRepository
        const sql = yield* SqlClient.SqlClient
        yield* sql`update seed_messages set created_at = created_at - interval '91 days' where email = 'me@one.test'`
        yield* forget(90)
      }),
    )
    expect(forgotten).toBeUndefined()
    expect(await states()).toEqual({ "me@two.test": "accepted" })
  })
})
