import { describe, expect } from "@effect/vitest"
import { failed, ok } from "@outreach/domain/operators/Finding"
import { LinkDomainRepository } from "@outreach/domain/senders/LinkDomainRepository"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Layer, Redacted } from "effect"
import {
  createSender,
  removeLinkDomain,
  removeSender,
  rotateDkimKey,
  updateSender,
  verifySender,
} from "../../src/operations/senders.ts"
import { SenderSetup } from "../../src/senders/SenderSetup.ts"

const published = "192.0.2.53"
const dkimKey = { publicKey: "public", privateKey: Redacted.make("private") }
const setup = Layer.succeed(SenderSetup, {
  linkHost: "api.outreach.test",
  lookUp: (_, __, dnsServer) =>
    Effect.succeed([{ record: "", ...(dnsServer === published ? ok("found") : failed("missing", "Publish it.")) }]),
})
const { test } = testsOnDatabase({ layer: setup })

const seed = Effect.gen(function* () {
  const { organization } = yield* seedCampaign({ recipients: 0 })
  const organizationId = organization.id
  const from = { name: "Acme", address: "outreach@acme.test" }
  // A link domain belongs to one organization.
  const linkDomain = `${crypto.randomUUID()}.acme.test`
  const sender = yield* createSender.run({ organizationId, from, selector: "s1", linkDomain, dkimKey }, "Dana")
  return { organizationId, from, linkDomain, sender, senderId: sender.id }
})

describe("a sender", () => {
  test("has DNS records to publish, and is verified, changed and removed", function* () {
    const { linkDomain, sender, senderId } = yield* seed
    expect(sender.dnsRecords.map(({ name }) => name)).toContain("s1._domainkey.acme.test")
    expect(yield* Effect.flip(verifySender.run({ senderId }, "Dana"))).toMatchObject({ _tag: "SenderNotVerified" })
    const verified = yield* verifySender.run({ senderId, dnsServer: published }, "Dana")
    expect(verified).toMatchObject({ liveSince: expect.any(String), checks: [{ found: "found" }] })
    const change = { senderId, replyTo: null, linkDomain: "next.acme.test" }
    const changed = yield* updateSender.run(change, "Dana")
    expect(updateSender.done(changed, change)).toContain("Publish the new DNS records")
    const { keys } = yield* rotateDkimKey.run({ senderId, selector: "s2", dkimKey }, "Dana")
    expect(keys.map(({ selector, state }) => [selector, state])).toEqual([
      ["s2", "pending"],
      ["s1", "signing"],
    ])
    expect(yield* removeSender.plan!({ senderId })).toMatchObject({
      title: "Remove Acme <outreach@acme.test>",
      many: "1 sender, with 2 DKIM keys",
    })
    expect(yield* removeSender.run({ senderId }, "Dana")).toMatchObject({ id: senderId, removed: true })
    expect((yield* removeLinkDomain.plan!({ linkDomain })).caution?.word).toBe(linkDomain)
    yield* removeLinkDomain.run({ linkDomain }, "Dana")
    expect(yield* LinkDomainRepository.use(({ list }) => list(sender.organizationId))).toEqual([])
    expect(yield* Effect.flip(removeLinkDomain.plan!({ linkDomain }))).toMatchObject({ _tag: "LinkDomainNotFound" })
  })

  test("belongs to a program of its organization", function* () {
    const { organizationId, from } = yield* seed
    const { program } = yield* seedCampaign({ recipients: 0 })
    const refused = yield* Effect.flip(
      createSender.run({ organizationId, programId: program.id, from, dkimKey }, "Dana"),
    )
    expect(refused).toMatchObject({ _tag: "ProgramNotFound" })
  })
})
