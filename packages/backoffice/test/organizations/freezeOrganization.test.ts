import { describe, expect } from "@effect/vitest"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { publishChunk, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { HitRepository } from "@outreach/domain/hits/HitRepository"
import { judgeHits } from "@outreach/domain/hits/Hits"
import { createIdentifier, type RecipientId } from "@outreach/domain/Identifier"
import { BounceRepository } from "@outreach/domain/mail/BounceRepository"
import { claimMessages } from "@outreach/domain/mail/claimMessages"
import { OrganizationRepository } from "@outreach/domain/organizations/OrganizationRepository"
import { freezeOrganization } from "@outreach/domain/organizations/Organizations"
import { UnsubscriptionRepository } from "@outreach/domain/suppressions/UnsubscriptionRepository"
import { applyUnsubscriptions } from "@outreach/domain/suppressions/Unsubscriptions"
import { effectTest } from "@outreach/testing/effectTest"
import { inTransaction } from "@outreach/testing/inTransaction"
import { applyBatches, receiveEvent } from "@outreach/testing/receiveEvent"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { workerOn } from "@outreach/testing/workerOn"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach } from "vitest"
import { backoffice } from "../../src/backoffice.ts"

const run = runOnDatabase({ layer: backoffice })
const test = effectTest(run)

// Claims take what is due anywhere, so each test begins with nothing.
beforeEach(() =>
  run(
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`
        with cancelled as (update campaigns set status = 'cancelled'), disabled as (update webhook_endpoints set enabled = false)
        select`,
    ),
  ),
)

const schedule = Effect.fnUntraced(function* () {
  const seeded = yield* seedCampaign({ recipients: 2 })
  yield* scheduleCampaign(seeded.campaign.id)
  return seeded
})
/** Seeds a campaign that is sending. */
const seedSending = Effect.gen(function* () {
  const seeded = yield* schedule()
  while (yield* publishChunk()) {}
  yield* (yield* CampaignRepository).openAndComplete
  return seeded
})
const claim = claimMessages({ limit: 10, leaseSeconds: 60, perMinute: null, perDomainMinute: null })
const statusOf = (seeded: Effect.Success<typeof seedSending>) =>
  Effect.map(
    Effect.flatMap(CampaignRepository, (campaigns) => campaigns.find(seeded.campaign.id)),
    ({ status }) => status,
  )

describe("a frozen organization", () => {
  test("has nothing begun for it, and everything once it is served again", function* () {
    const sql = yield* SqlClient.SqlClient
    const { unfreeze } = yield* OrganizationRepository
    const bounces = yield* BounceRepository
    const seeded = yield* seedSending
    const { organization, program } = seeded
    const [recipient] = yield* sql<{ id: RecipientId }>`
      select id from recipients where organization_id = ${organization.id} order by id`
    const ofRecipient = { organizationId: organization.id, recipientId: recipient!.id }
    const inbound = (id: string, n: number) =>
      receiveEvent(seeded, id, "clinician.account_created", {
        ...{ npi: npi(n), email: email(n), consumer_program_slug: program.slug },
      })
    expect(yield* inbound("evt_1", 90)).toBe("stored")
    const scheduled = yield* seedCampaign({ recipients: 1 })
    yield* sql`update campaigns set status = 'published' where id = ${scheduled.campaign.id}`

    yield* freezeOrganization(organization.id)
    yield* freezeOrganization(scheduled.organization.id)
    // What links ask for is stored: nobody else could.
    yield* (yield* HitRepository).record([
      {
        ...{ ...ofRecipient, id: yield* createIdentifier("hit"), link: "https://clinic.test/", method: "GET" },
        ...{ address: "198.51.100.7", headers: {}, cameAt: yield* Clock.currentTimeMillis },
      },
    ])
    yield* sql`update hits set received_at = received_at - interval '1 hour' where organization_id = ${organization.id}`
    expect(yield* (yield* UnsubscriptionRepository).ask(ofRecipient)).toBe(true)

    const worker = yield* workerOn()
    const begin = Effect.gen(function* () {
      yield* (yield* CampaignRepository).openAndComplete
      return {
        claimed: (yield* claim).length,
        delivered: (yield* worker.take()).length > 0,
        inbound: [yield* inbound("evt_2", 91), yield* inbound("evt_1", 90)],
        applied: yield* applyBatches,
        judged: yield* judgeHits(organization.id),
        hasHits: (yield* (yield* HitRepository).waiting).includes(organization.id),
        unsubscribed: yield* applyUnsubscriptions,
        opened: yield* statusOf(scheduled),
      }
    })
    expect(yield* begin).toEqual({
      ...{ claimed: 0, delivered: false, inbound: ["frozen", "frozen"], applied: false, judged: 0, hasHits: false },
      ...{ unsubscribed: 0, opened: "published" },
    })
    expect(yield* inTransaction(bounces.lock(recipient!.id))).toMatchObject({ isFrozen: true })
    yield* sql`update campaigns set status = 'scheduled' where id = ${scheduled.campaign.id}`
    expect(yield* publishChunk()).toBe(false)

    yield* sql`update campaigns set status = 'published' where id = ${scheduled.campaign.id}`
    yield* unfreeze(organization.id)
    yield* unfreeze(scheduled.organization.id)
    // Before the claim, because a message in flight makes the unsubscription wait.
    expect(yield* applyUnsubscriptions).toBe(1)
    expect(yield* begin).toEqual({
      ...{ claimed: expect.any(Number), delivered: true, inbound: ["stored", "repeated"], applied: true, judged: 1 },
      ...{ hasHits: false, unsubscribed: 0, opened: "completed" },
    })
  })
})
