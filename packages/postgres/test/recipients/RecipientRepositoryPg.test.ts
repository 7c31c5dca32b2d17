import { describe, expect } from "@effect/vitest"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { commandCampaign, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { addRecipients } from "@outreach/domain/campaigns/RecipientImport"
import { type CampaignId, createIdentifier, randomBase62 } from "@outreach/domain/Identifier"
import { EmailAddress } from "@outreach/domain/recipients/Clinician"
import {
  type Candidate,
  type Recipient,
  RecipientRepository,
  recipientsFrom,
} from "@outreach/domain/recipients/Recipient"
import { fromUnixMillis, type Timestamp } from "@outreach/domain/Timestamp"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { inTransaction, sql, value, whileOpen } from "@outreach/testing/sql"
import { Effect } from "effect"

const { test } = testsOnDatabase()

const candidate = Effect.fnUntraced(function* (n: number, some: Partial<Candidate> = {}) {
  const id = yield* createIdentifier("recipient")
  return { id, token: yield* randomBase62(6), npi: npi(n), email: email(n), ...some }
})
const register = (campaignId: CampaignId, ...candidates: ReadonlyArray<Candidate>) =>
  addRecipients(campaignId, candidates)

const EPOCH = recipientsFrom(fromUnixMillis(0))

describe("addRecipients", () => {
  test("returns the outcome of each candidate, in order", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 0 })
    const first = yield* candidate(1)
    expect(yield* register(campaign.id, first, yield* candidate(2))).toEqual(["registered", "registered"])
    expect(
      yield* register(
        campaign.id,
        yield* candidate(3),
        yield* candidate(1),
        yield* candidate(1, { email: EmailAddress.make(first.email.toUpperCase()) }),
        yield* candidate(1, { email: EmailAddress.make("another@clinic.test") }),
        yield* candidate(4, { email: EmailAddress.make(first.email.toUpperCase()) }),
        yield* candidate(5, { token: first.token }),
        yield* candidate(1, { token: first.token }),
        yield* candidate(1, { email: email(2) }),
        yield* candidate(6),
      ),
    ).toEqual([
      ...["registered", "already_there", "already_there", "npi_taken", "email_taken", "token_taken"],
      ...["already_there", "npi_taken", "registered"],
    ])
    expect((yield* (yield* CampaignRepository).progress(campaign.id)).recipients).toBe(4)
  })

  test("requires unique NPIs and addresses per campaign, and unique tokens per organization", function* () {
    const ours = yield* seedCampaign({ recipients: 0 })
    const theirs = yield* seedCampaign({ recipients: 0 })
    const second = yield* (yield* CampaignRepository).create({
      ...ours.campaign,
      id: yield* createIdentifier("campaign"),
    })
    const first = yield* candidate(1)
    yield* register(ours.campaign.id, first)
    expect(yield* register(second.id, yield* candidate(1))).toEqual(["registered"])
    expect(yield* register(second.id, yield* candidate(2, { token: first.token }))).toEqual(["token_taken"])
    expect(yield* register(theirs.campaign.id, yield* candidate(1, { token: first.token }))).toEqual(["registered"])
  })

  test("uses one timestamp per batch, for creation and update", function* () {
    const { organization } = yield* seedCampaign({ recipients: 20 })
    const { rows: page } = yield* (yield* RecipientRepository).page(organization.id, EPOCH, 100)
    expect(page).toHaveLength(20)
    expect(new Set(page.flatMap((recipient) => [recipient.createdAt, recipient.updatedAt])).size).toBe(1)
  })

  test("rejects a campaign that is unknown, or that the worker may be processing", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 0 })
    const unknown = yield* createIdentifier("campaign")
    const into = (id: CampaignId) => Effect.flip(Effect.flatMap(candidate(1), (one) => register(id, one)))
    expect(yield* into(unknown)).toMatchObject({ _tag: "CampaignNotFound", campaignId: unknown })
    yield* scheduleCampaign(campaign.id, { force: ["recipients"] })
    expect(yield* into(campaign.id)).toMatchObject({ _tag: "CampaignNotInStatus", status: "scheduled" })
    yield* commandCampaign(campaign.id, "pause")
    expect(yield* register(campaign.id, yield* candidate(1))).toEqual(["registered"])
  })

  test("blocks the scheduling of the campaign until its rows are inserted", function* () {
    const { campaign } = yield* seedCampaign({ recipients: 1 })
    const importing = register(campaign.id, yield* candidate(1))
    const scheduling = inTransaction(
      Effect.andThen(sql`set local lock_timeout = '100ms'`, scheduleCampaign(campaign.id)),
    )
    expect((yield* whileOpen(importing, () => Effect.exit(scheduling)))._tag).toBe("Failure")
    expect((yield* scheduleCampaign(campaign.id)).status).toBe("scheduled")
  })
})

describe("RecipientRepositoryPg.find", () => {
  test("only finds a token in its organization", function* () {
    const recipients = yield* RecipientRepository
    const ours = yield* seedCampaign({ recipients: 0 })
    const theirs = yield* seedCampaign({ recipients: 0 })
    const one = yield* candidate(1, { token: "aB3dE9" })
    yield* register(ours.campaign.id, one)
    expect(yield* recipients.find(ours.organization.id, "aB3dE9")).toMatchObject({
      ...one,
      campaignId: ours.campaign.id,
      programId: ours.program.id,
      sentAt: null,
    })
    expect(yield* recipients.find(theirs.organization.id, "aB3dE9")).toBeUndefined()
    expect(yield* recipients.find(ours.organization.id, "Ab3dE9")).toBeUndefined()
  })

  test("returns the right result to each of many concurrent callers", function* () {
    const recipients = yield* RecipientRepository
    const organizations = [yield* seedCampaign({ recipients: 0 }), yield* seedCampaign({ recipients: 0 })]
    const tokens = ["aB3dE1", "aB3dE2", "aB3dE3"]
    for (const [i, { campaign }] of organizations.entries()) {
      for (const [n, token] of tokens.slice(i).entries()) yield* register(campaign.id, yield* candidate(n, { token }))
    }
    const asked = Array.from({ length: 30 }, () =>
      organizations.flatMap(({ organization }) => tokens.map((token) => [organization.id, token] as const)),
    ).flat()
    const found = yield* Effect.forEach(asked, (each) => recipients.find(...each), { concurrency: "unbounded" })
    expect(found.map((each) => each && [each.organizationId, each.token])).toEqual(
      asked.map((each) => (each[0] === organizations[1]!.organization.id && each[1] === "aB3dE1" ? undefined : each)),
    )
  })

  test("finds rows that the same transaction inserted", function* () {
    const { organization, campaign } = yield* seedCampaign({ recipients: 0 })
    const one = yield* candidate(1)
    const found = yield* inTransaction(
      Effect.andThen(
        register(campaign.id, one),
        RecipientRepository.use(({ find }) => find(organization.id, one.token)),
      ),
    )
    expect(found).toMatchObject(one)
  })
})

describe("RecipientRepositoryPg.page", () => {
  const seeded = Effect.gen(function* () {
    const { organization, campaign } = yield* seedCampaign({ recipients: 0 })
    // Ids in reverse insertion order, and several rows per timestamp.
    for (const start of [0, 5, 7]) {
      const batch = yield* Effect.forEach([start, start + 1, start + 2, start + 3, start + 4], (n) => candidate(n))
      yield* register(campaign.id, ...batch.reverse())
    }
    // The rows with the lowest ids changed last.
    yield* sql`
      update recipients set updated_at = (select max(updated_at) + interval '1 microsecond' from recipients)
      where id in (select id from recipients where organization_id = ${organization.id} order by id limit 2)`
    const { rows: all } = yield* (yield* RecipientRepository).page(organization.id, EPOCH, 500)
    return { organizationId: organization.id, all }
  })

  test("reads every row of an organization once in pages of any size, sorted by update and id", function* () {
    const { organizationId, all } = yield* seeded
    yield* seeded
    expect([all.length, new Set(all.map(({ updatedAt }) => updatedAt)).size]).toEqual([12, 4])
    const keys = all.map(({ updatedAt, id }) => `${updatedAt} ${id}`)
    expect(keys).toEqual([...keys].sort())
    const recipients = yield* RecipientRepository
    for (const limit of [1, 2, 5, 12, 13]) {
      const read: Array<Recipient> = []
      for (let page = yield* recipients.page(organizationId, EPOCH, limit); page.rows.length > 0; ) {
        expect(page.rows.length).toBeLessThanOrEqual(limit)
        read.push(...page.rows)
        page = yield* recipients.page(organizationId, page.rows.at(-1)!, limit)
      }
      expect(read).toEqual(all)
    }
  })

  test("starts at `since`, inclusive to the microsecond", function* () {
    const { organizationId, all } = yield* seeded
    const recipients = yield* RecipientRepository
    const since = all[5]!.updatedAt
    const later = yield* value<Timestamp>`select ${since}::timestamptz + interval '1 microsecond' as at`
    const { rows: fromThen } = yield* recipients.page(organizationId, recipientsFrom(since), 500)
    expect(fromThen).toEqual(all.filter((it) => it.updatedAt >= since))
    const { rows: fromLater } = yield* recipients.page(organizationId, recipientsFrom(later), 500)
    expect(fromLater).toEqual(all.filter((it) => it.updatedAt > since))
  })
})
