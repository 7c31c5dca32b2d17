import type { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { failed, ok } from "@outreach/domain/operators/Finding"
import { LinkDomainRepository } from "@outreach/domain/senders/LinkDomainRepository"
import { dkimKeyState, type Sender } from "@outreach/domain/senders/Sender"
import { addSender, addSenderKey, SenderRepository, updateSender, verifySender } from "@outreach/domain/senders/Senders"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { Effect, Redacted } from "effect"
import { describe, expect, it } from "vitest"

const { run, test } = testsOnDatabase()

const HOST = "api.outreach.test"
const key = (selector: string) => ({ publicKey: "public", privateKey: Redacted.make("private"), selector })

const add = (
  organizationId: OrganizationId,
  options: { readonly programId?: ProgramId; readonly bounceDomain?: string; readonly linkDomain?: string } = {},
  address = "outreach@acme.test",
) => addSender({ organizationId, from: { name: "Acme Health", address }, ...options }, key("s1"), HOST)

const found = () => Effect.succeed([ok("found")])
const missing = () => Effect.succeed([ok("found"), failed("missing", "Publish it.")])
const verify = (sender: Pick<Sender, "id">) => verifySender(sender.id, found)
const update = (
  { id }: Pick<Sender, "id">,
  changes: Parameters<typeof updateSender>[1],
  lookUp: () => ReturnType<typeof found> = missing,
) => updateSender(id, changes, { linkHost: HOST, lookUp })

const states = ({ keys }: Sender) => keys.map((each) => [each.selector, dkimKeyState(each)])

describe("a sender", () => {
  test("goes live when its records are found", function* () {
    const { organization } = yield* seedCampaign({ recipients: 0 })
    const sender = yield* add(organization.id)
    expect(yield* Effect.flip(verifySender(sender.id, missing))).toMatchObject({ _tag: "SenderNotVerified" })
    expect(yield* SenderRepository.use(({ find }) => find(sender.id))).toMatchObject({ liveSince: null })
    const { verified } = yield* verify(sender)
    expect(verified).toMatchObject({ id: sender.id, liveSince: expect.any(String) })
  })

  test("of a program takes precedence over the organization's sender, and that over the deployment's", function* () {
    const { organization, program, campaign } = yield* seedCampaign({ recipients: 0 })
    const senderOf = SenderRepository.use(({ ofCampaign }) =>
      Effect.map(ofCampaign(campaign.id), (sender) => sender?.id ?? null),
    )
    const own = yield* add(organization.id)
    expect(yield* senderOf).toBe(null)
    yield* verify(own)
    expect(yield* senderOf).toBe(own.id)
    const ofProgram = yield* add(organization.id, { programId: program.id })
    yield* verify(ofProgram)
    expect(yield* senderOf).toBe(ofProgram.id)
    yield* SenderRepository.use(({ remove }) => remove(ofProgram.id))
    expect(yield* senderOf).toBe(own.id)
    expect(yield* Effect.flip(add(organization.id))).toMatchObject({ _tag: "SenderExists", senderId: own.id })
  })

  test("that is live changes its domain only when the new records are found", function* () {
    const { organization } = yield* seedCampaign({ recipients: 0 })
    const sender = yield* add(organization.id)
    yield* verify(sender)
    const named = yield* update(sender, { from: { name: "Acme", address: "hello@acme.test" } })
    expect(named).toMatchObject({ fromName: "Acme", fromAddress: "hello@acme.test" })
    const refused = yield* Effect.flip(update(sender, { bounceDomain: "b.acme.test" }))
    expect(refused.message).toMatch(/^1 check of 2 failed for snd_.*; nothing was changed\. missing Publish it\.$/)
    const moved = { from: { name: "Acme", address: "hello@news.acme.test" } }
    expect(yield* Effect.flip(update(sender, moved))).toMatchObject({ _tag: "SenderNotVerified" })
    const unchanged = yield* SenderRepository.use(({ find }) => find(sender.id))
    expect(unchanged).toMatchObject({ fromAddress: "hello@acme.test", bounceDomain: null })
    const changed = yield* update(sender, { bounceDomain: "b.acme.test" }, found)
    expect(changed).toMatchObject({ bounceDomain: "b.acme.test", liveSince: expect.any(String) })
    expect(yield* update(sender, { bounceDomain: null })).toMatchObject({ bounceDomain: null })
  })

  test("has domains that align for DMARC", function* () {
    const { organization } = yield* seedCampaign({ recipients: 0 })
    const from = { name: "", address: "outreach@news.acme.test" }
    const request = { organizationId: organization.id, from }
    const relay = yield* Effect.flip(addSender({ ...request, dkimDomain: "relay.test" }, key("s1"), HOST))
    expect(relay).toMatchObject({ _tag: "SenderNotAligned", role: "DKIM domain" })
    const bounces = yield* Effect.flip(addSender({ ...request, bounceDomain: "news.other.test" }, key("s1"), HOST))
    expect(bounces).toMatchObject({ _tag: "SenderNotAligned", role: "bounce domain" })
    const sender = yield* addSender({ ...request, dkimDomain: "acme.test" }, key("s1"), HOST)
    const elsewhere = { from: { name: "", address: "outreach@other.test" } }
    expect(yield* Effect.flip(update(sender, elsewhere))).toMatchObject({ _tag: "SenderNotAligned" })
  })

  test("signs with its next key when it is published, for some time together with the older one", function* () {
    const { organization, campaign } = yield* seedCampaign({ recipients: 0 })
    const sender = yield* add(organization.id)
    yield* verify(sender)
    const senders = yield* SenderRepository
    const signing = Effect.map(senders.identityOf(campaign.id), (identity) =>
      identity?.dkim?.keys.map(({ selector }) => selector),
    )
    const rotated = yield* addSenderKey(sender.id, key("s2"))
    expect(states(rotated)).toEqual([
      ["s2", "pending"],
      ["s1", "signing"],
    ])
    expect(yield* signing).toEqual(["s1"])
    const { verified } = yield* verify(sender)
    expect(states(verified)).toEqual([
      ["s2", "signing"],
      ["s1", "signing alongside the next"],
    ])
    expect(yield* signing).toEqual(["s2", "s1"])
    const age = (days: number) => sql`
      update dkim_keys set signs_until = signs_until - make_interval(days => ${days}::int) where sender_id = ${sender.id}`
    yield* age(3)
    expect(yield* signing).toEqual(["s2"])
    const older = Effect.map(senders.find(sender.id), (found) => states(found)[1])
    expect(yield* older).toEqual(["s1", "signs no more, its record is still needed"])
    yield* age(7)
    expect(yield* older).toEqual(["s1", "over"])
    expect(yield* Effect.flip(addSenderKey(sender.id, key("s2")))).toMatchObject({ _tag: "SelectorTaken" })
    yield* addSenderKey(sender.id, key("s3"))
    // A pending key is replaced.
    expect(states(yield* addSenderKey(sender.id, key("s4"))).slice(0, 2)).toEqual([
      ["s4", "pending"],
      ["s2", "signing"],
    ])
  })
})

describe("a link domain", () => {
  const DOMAIN = "click.acme.test"

  test("belongs to one organization, and is kept without a sender after its verification", function* () {
    const [here, elsewhere] = [yield* seedCampaign({ recipients: 0 }), yield* seedCampaign({ recipients: 0 })]
    const domains = yield* LinkDomainRepository
    const listed = Effect.map(domains.list(here.organization.id), (all) => all.map(({ domain }) => domain))
    const sender = yield* add(here.organization.id, { linkDomain: DOMAIN })
    expect(yield* domains.readServed()).toEqual([])
    // It may request a certificate from the start of its verification.
    yield* Effect.flip(verifySender(sender.id, missing))
    const served = { domain: DOMAIN, organizationId: here.organization.id }
    expect(yield* domains.readServed()).toEqual([served])
    const { verified } = yield* verify(sender)
    expect(verified).toMatchObject({ linkDomain: DOMAIN, linkDomainVerifiedAt: expect.any(String) })
    // E-mails contain it only while it is verified.
    const { identityOf } = yield* SenderRepository
    expect(yield* identityOf(here.campaign.id)).toMatchObject({ linkDomain: DOMAIN })

    const other = yield* add(elsewhere.organization.id)
    const taken = { _tag: "LinkDomainTaken", organizationId: here.organization.id }
    expect(yield* Effect.flip(update(other, { linkDomain: DOMAIN }))).toMatchObject(taken)
    const inUse = { _tag: "LinkDomainInUse", senderId: sender.id }
    expect(yield* Effect.flip(domains.remove(DOMAIN))).toMatchObject(inUse)
    const changed = yield* update(sender, { linkDomain: "next.acme.test" })
    expect(changed).toMatchObject({ linkDomain: "next.acme.test", linkDomainVerifiedAt: null })
    expect(yield* identityOf(here.campaign.id)).toMatchObject({ linkDomain: null })
    // It was verified for this organization, and isn't checked again.
    const back = yield* update(sender, { linkDomain: DOMAIN })
    expect(back).toMatchObject({ linkDomain: DOMAIN, linkDomainVerifiedAt: expect.any(String) })
    expect(yield* listed).toEqual([DOMAIN])
    yield* SenderRepository.use(({ remove }) => remove(sender.id))
    expect(yield* listed).toEqual([DOMAIN])
    yield* domains.remove(DOMAIN)
    expect(yield* Effect.flip(domains.remove(DOMAIN))).toMatchObject({ _tag: "LinkDomainNotFound" })
    expect(yield* update(other, { linkDomain: DOMAIN })).toMatchObject({ linkDomain: DOMAIN })
  })

  it.each([
    [HOST, "the host of PUBLIC_BASE_URL"],
    ["acme.test", "the From domain"],
    ["bounces.acme.test", "the bounce domain"],
  ])("isn't %s", async (linkDomain, use) => {
    const refused = Effect.gen(function* () {
      const { organization } = yield* seedCampaign({ recipients: 0 })
      const sender = yield* add(organization.id, { bounceDomain: "bounces.acme.test" })
      return yield* Effect.flip(update(sender, { linkDomain }))
    })
    expect(await run(refused)).toMatchObject({ _tag: "LinkDomainUnusable", use })
  })
})
