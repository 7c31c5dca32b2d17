import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { publishChunk } from "@outreach/domain/campaigns/publishRecipients"
import { createIdentifier, type RecipientId } from "@outreach/domain/Identifier"
import {
  acceptPromotion,
  beginRestore,
  finishRestore,
  markMailed,
  RestoreRepository,
} from "@outreach/domain/restores/Restores"
import { Timestamp } from "@outreach/domain/Timestamp"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { cancelCampaigns, claimMessages, sendCampaign } from "@outreach/testing/sendCampaign"
import { column, sql, untilBlocked, value, whileOpen } from "@outreach/testing/sql"
import { Effect, Fiber } from "effect"
import { beforeEach, describe, expect } from "vitest"

const { run, test } = testsOnDatabase()

// Claims process all organizations.
beforeEach(() => run(cancelCampaigns))

const POINT = Timestamp.make("2026-01-05T03:10:00.000000Z")

/** Seeds a sending campaign of five recipients; one of them has no message yet. */
const seedSending = Effect.gen(function* () {
  const { campaign, organization } = yield* seedCampaign({ recipients: 5 })
  yield* sendCampaign(campaign.id)
  const recipients = yield* column<RecipientId>`
    select id from recipients where organization_id = ${organization.id} order by id`
  // The recipient was added later, and only published after the restore point.
  yield* sql`delete from messages where recipient_id = ${recipients[0]!}`
  yield* sql`update recipients set published_at = null where id = ${recipients[0]!}`
  return { campaign, organization, recipients }
})

const claimed = Effect.gen(function* () {
  const leases = yield* claimMessages(100, { leaseSeconds: 1 })
  return leases.map(({ recipientId }) => recipientId).sort()
})

describe("a restore", () => {
  test("blocks all e-mails until it is finished, and skips recipients in the mail server's log", function* () {
    const { campaign, organization, recipients } = yield* seedSending
    const restores = yield* RestoreRepository
    const campaigns = yield* CampaignRepository
    const [before] = yield* sql`select last from organization_clock where organization_id = ${organization.id}`
    const restore = yield* beginRestore(POINT, 7200)
    expect(restore).toMatchObject({ restoredTo: POINT, finishedAt: null })
    const state = { id: campaign.id, statusBefore: "sending", status: "paused", unsent: 5 }
    expect(yield* restores.campaigns).toMatchObject([state])
    expect(yield* campaigns.find(campaign.id)).toMatchObject({
      ...{ stoppedBy: null, stopReason: "the database was restored from a backup" },
    })
    const organizations = yield* restores.organizations
    expect(organizations.find(({ id }) => id === organization.id)?.restoredAt).toBe(before!["last"])
    const fence = yield* value<number>`
      select extract(epoch from last - clock_timestamp())::int as ahead from organization_clock
      where organization_id = ${organization.id}`
    expect(fence).toBeGreaterThan(7000)
    expect(yield* Effect.flip(beginRestore(POINT, 0))).toMatchObject({ _tag: "RestoreUnderWay" })
    expect(yield* Effect.flip(acceptPromotion())).toMatchObject({ _tag: "RestoreUnderWay" })
    expect(yield* restores.databaseState).toMatchObject({ fault: "restoring" })

    // A campaign that is resumed too early isn't sent.
    yield* campaigns.move(campaign.id, ["paused"], "sending")
    expect(yield* claimed).toEqual([])
    yield* campaigns.move(campaign.id, ["sending"], "paused")

    expect(yield* Effect.flip(finishRestore("resume campaigns"))).toMatchObject({ _tag: "MailLogNotRead" })
    const mailed = [...recipients.slice(0, 4), yield* createIdentifier("recipient")]
    expect(yield* markMailed(mailed)).toMatchObject({ marked: 4, known: 0, missing: 1 })
    expect(yield* markMailed(mailed)).toMatchObject({ marked: 0, known: 4, missing: 1 })
    yield* restores.noteMailLog(restore.id)
    const events = yield* sql`
      select recipient_id as recipient, emitted_at > restore_fenced_at as above
      from events join organization_clock using (organization_id)
      where organization_id = ${organization.id} and type = 'outreach.email_sent' order by recipient_id`
    expect(events).toEqual(recipients.slice(0, 4).map((recipient) => ({ recipient, above: true })))

    yield* finishRestore("resume campaigns")
    expect(yield* restores.campaigns).toMatchObject([{ status: "sending", unsent: 1 }])
    yield* publishChunk()
    expect(yield* claimed).toEqual(recipients.slice(4))
    expect(yield* Effect.flip(finishRestore("leave campaigns paused"))).toMatchObject({ _tag: "NoRestoreUnderWay" })
  })

  test("leaves campaigns paused without a log, and requires a point in the past", function* () {
    const { campaign } = yield* seedSending
    const future = Timestamp.make("2999-01-01T00:00:00.000000Z")
    expect(yield* Effect.flip(beginRestore(future, 0))).toMatchObject({ _tag: "RestoredToFuture" })
    yield* beginRestore(POINT, 0)
    yield* finishRestore("leave campaigns paused")
    const restores = yield* RestoreRepository
    expect(yield* restores.campaigns).toMatchObject([{ id: campaign.id, status: "paused", unsent: 5 }])
    expect(yield* claimed).toEqual([])
  })
})

test("a database that moved to a different server doesn't send until an operator accepts it", function* () {
  const { recipients } = yield* seedSending
  const restores = yield* RestoreRepository
  const { current } = yield* restores.databaseState
  yield* restores.record(current!)
  expect(yield* restores.databaseState).toMatchObject({ fault: null, recorded: current })

  // The same as after a promotion.
  const before = `${current!.split("/")[0]}/00000000`
  yield* sql`update clock_watch set identity = ${before}`
  expect(yield* restores.databaseState).toMatchObject({ fault: "moved", recorded: before, current })
  expect(yield* claimed).toEqual([])
  expect(yield* acceptPromotion()).toMatchObject({ fault: null, recorded: current })
  expect(yield* claimed).toEqual(recipients.slice(1))
})

test("a fault and the identity next to it are read at one moment", function* () {
  const restores = yield* RestoreRepository
  const { current } = yield* restores.databaseState
  yield* restores.record(current!)
  const reading = yield* whileOpen(
    Effect.andThen(sql`select pg_advisory_xact_lock(1)`, sql`update clock_watch set identity = identity || '-lost'`),
    () =>
      Effect.tap(
        Effect.forkDetach(
          sql`select pg_advisory_xact_lock(1) is null as waited, restore_fault() as fault, identity from clock_watch`,
        ),
        untilBlocked(),
      ),
  )
  expect(yield* Fiber.join(reading)).toMatchObject([{ fault: null, identity: current }])
  expect(yield* restores.databaseState).toMatchObject({ fault: "moved" })
})
