import { describe, expect } from "@effect/vitest"
import { createIdentifier, type Kind, PREFIXES } from "@outreach/domain/Identifier"
import { addOperator, OperatorRepository, signIn } from "@outreach/domain/operators/Operators"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { seedDeadLetters } from "@outreach/testing/seedDeadLetters"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import { MAX_NAMED, NAMED_KINDS, ObjectFinder } from "../../src/operators/ObjectFinder.ts"

const { test } = testsOnDatabase()

/** An object of each kind in one organization, each with the kind of the object that its page shows. */
const seedThings = Effect.gen(function* () {
  const { organization, program, campaign, endpoint } = yield* seedDeadLetters(1)
  const organizationId = organization.id
  const recipient = yield* createIdentifier("recipient")
  const [event] = yield* publishSent(campaign, 1)
  const { key } = yield* issueKey({ organizationId, name: "Nightly", scopes: ["tokens:read"], expiresAt: null })
  const operator = yield* addOperator({ name: `Dana ${organizationId}`, role: "viewer", organizationId })
  yield* signIn({ name: operator.name })
  const [session] = yield* (yield* OperatorRepository).listSessions(operator.id)
  const [sender, dkimKey, erasure, hit] = yield* Effect.forEach(
    ["sender", "dkimKey", "erasure", "hit"] as const,
    createIdentifier,
  )
  yield* sql`
    insert into recipients (organization_id, id, campaign_id, program_id, token, npi, email, created_at, updated_at)
    values (${organizationId}, ${recipient}, ${campaign.id}, ${program.id}, 'aaaaaa', '1234567893', 'a@b.test', now(), now())`
  yield* sql`
    insert into senders (organization_id, id, from_name, from_address, dkim_domain)
    values (${organizationId}, ${sender!}, 'Dr. Müller', 'news@clinic.test', 'clinic.test')`
  yield* sql`
    insert into dkim_keys (organization_id, id, sender_id, selector, public_key, ciphertext)
    values (${organizationId}, ${dkimKey!}, ${sender!}, 's', '', '')`
  yield* sql`
    insert into erasures (organization_id, id, operator, commands, subject, hashes, release, finished_at)
    values (${organizationId}, ${erasure!}, 'Dana', '{}', '', '{}', '', now())`
  yield* sql`
    insert into hits (organization_id, id, recipient_id, kind, method, address, headers, received_at)
    values (${organizationId}, ${hit!}, ${recipient}, 'open', 'GET', '', '{}', now())`
  yield* sql`
    insert into imports (organization_id, campaign_id, operator) values (${organizationId}, ${campaign.id}, 'Dana')`
  const idIn = (table: string) =>
    Effect.map(
      sql<{ id: string }>`select id from ${sql(table)} where organization_id = ${organizationId} limit 1`,
      ([row]) => row!.id,
    )
  const things: Partial<Record<Kind, readonly [id: string, shownOn: string]>> = {
    organization: [organizationId, organizationId],
    program: [program.id, program.id],
    campaign: [campaign.id, campaign.id],
    recipient: [recipient, recipient],
    event: [event!, event!],
    key: [key.id, organizationId],
    endpoint: [endpoint.id, endpoint.id],
    secret: [yield* idIn("signing_secrets"), organizationId],
    delivery: [yield* idIn("dead_letters"), yield* idIn("dead_letters")],
    import: [yield* idIn("imports"), yield* idIn("imports")],
    hit: [hit!, recipient],
    erasure: [erasure!, erasure!],
    sender: [sender!, sender!],
    dkimKey: [dkimKey!, sender!],
    operator: [operator.id, operator.id],
    session: [session!.id, operator.id],
    failureGroup: [yield* idIn("failure_groups"), yield* idIn("failure_groups")],
  }
  return { organizationId, things }
})

describe("an id", () => {
  test("of every kind finds the object and its page, only in its organization", function* () {
    const finder = yield* ObjectFinder
    const { organizationId, things } = yield* seedThings
    const other = yield* seedCampaign({ recipients: 0 })
    for (const [kind, [id, shownOn]] of Object.entries(things)) {
      expect({ kind, found: yield* finder.find([id], null) }).toEqual({
        kind,
        found: [{ id, organizationId, shownOn }],
      })
      expect({ kind, found: yield* finder.find([id], organizationId) }).toMatchObject({ found: [{ id }] })
      expect({ kind, found: yield* finder.find([id], other.organization.id) }).toEqual({ kind, found: [] })
    }
    const ids = Object.values(things).map(([id]) => id)
    expect(yield* finder.areOwned(organizationId, ids)).toBe(true)
    expect(yield* finder.areOwned(organizationId, [...ids, other.organization.id])).toBe(false)
    expect(yield* finder.areOwned(organizationId, [])).toBe(true)
  })

  test("of an unknown object finds none, for any kind", function* () {
    const finder = yield* ObjectFinder
    const { organization } = yield* seedCampaign({ recipients: 0 })
    for (const kind of Object.keys(PREFIXES) as ReadonlyArray<Kind>) {
      const id = yield* createIdentifier(kind)
      expect(yield* finder.find([id], null)).toEqual([])
      expect(yield* finder.areOwned(organization.id, [id])).toBe(false)
    }
  })

  test("of a partner's event finds the event of each organization with this id", function* () {
    const finder = yield* ObjectFinder
    const [one, other] = [yield* seedCampaign({ recipients: 0 }), yield* seedCampaign({ recipients: 0 })]
    for (const { organization } of [one, other]) {
      yield* sql`insert into inbox_keys (organization_id, event_id, received_at) values (${organization.id}, 'evt_c0ffee', now())`
    }
    expect(yield* finder.find(["evt_c0ffee"], null)).toHaveLength(2)
    expect(yield* finder.find(["evt_c0ffee"], one.organization.id)).toEqual([
      { id: "evt_c0ffee", organizationId: one.organization.id, shownOn: "inbox" },
    ])
  })
})

describe("a part of a name", () => {
  test("finds objects of every kind without case and accents, in one organization if it is given", function* () {
    const finder = yield* ObjectFinder
    const { organizationId, things } = yield* seedThings
    yield* seedThings
    yield* sql`update organizations set name = 'Zahnärzte Café Ñandú' where id = ${organizationId}`
    yield* sql`update programs set name = 'zahnarzte' where organization_id = ${organizationId}`
    yield* sql`update campaigns set name = 'Spring ZAHNÄRZTE 100% _' where organization_id = ${organizationId}`
    yield* sql`update senders set from_name = 'Die Zahnärzte' where organization_id = ${organizationId}`
    yield* sql`update operators set name = 'Zahna\u0308rzte Sam' where organization_id = ${organizationId}`
    const found = yield* finder.findNamed("zahnÄRZTE", null, NAMED_KINDS)
    expect(found.map(({ kind, id }) => [kind, id]).sort()).toEqual(
      NAMED_KINDS.map((kind) => [kind, things[kind]![0]]).sort(),
    )
    expect(yield* finder.findNamed("zahnarzte", organizationId, NAMED_KINDS)).toHaveLength(5)
    const other = yield* seedCampaign({ recipients: 0 })
    expect(yield* finder.findNamed("zahnarzte", other.organization.id, NAMED_KINDS)).toEqual([])
    expect(yield* finder.findNamed("cafe nandu", null, ["organization"])).toMatchObject([{ organizationId }])
    expect(yield* finder.findNamed("news@clinic", organizationId, ["sender"])).toMatchObject([
      { name: "Die Zahnärzte", note: "news@clinic.test" },
    ])
    for (const part of ["%", "_", "100% _"]) {
      expect(yield* finder.findNamed(part, organizationId, ["campaign"])).toHaveLength(1)
    }
    expect(yield* finder.findNamed("100%%", organizationId, ["campaign"])).toEqual([])
    yield* sql`update operators set removed_at = now() where organization_id = ${organizationId}`
    expect(yield* finder.findNamed("zahnarzte", null, ["operator"])).toEqual([])
  })

  test("finds prefix matches first, up to the limit", function* () {
    const finder = yield* ObjectFinder
    const { organization } = yield* seedCampaign({ recipients: 0 })
    yield* sql`
      insert into programs (organization_id, id, slug, name)
      select ${organization.id}, make_id('pgm'), 'slug-' || n, case when n = 3 then 'Wave 3' else 'The wave ' || n end
      from generate_series(1, 50) n`
    const found = yield* finder.findNamed("wave", organization.id, ["program"])
    expect(found).toHaveLength(MAX_NAMED)
    expect(found[0]).toMatchObject({ name: "Wave 3", note: "slug-3" })
  })
})
