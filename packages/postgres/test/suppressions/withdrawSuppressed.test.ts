import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { createCampaign, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { publishChunk } from "@outreach/domain/campaigns/publishRecipients"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import type { ProgramId } from "@outreach/domain/Identifier"
import { reportBounce } from "@outreach/domain/mail/returned/Bounces"
import { createProgram } from "@outreach/domain/programs/Programs"
import { isHardBounce } from "@outreach/domain/suppressions/Suppression"
import {
  SuppressionRepository,
  suppressClinicians,
  withdrawSuppressed,
} from "@outreach/domain/suppressions/Withdrawals"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { email, FOOTER, npi, SENDER, seedCampaign } from "@outreach/testing/seedCampaign"
import { cancelCampaigns, claimMessages, sendCampaign, sendWith, settleSent } from "@outreach/testing/sendCampaign"
import { column, sql, whileOpen } from "@outreach/testing/sql"
import { Effect, Fiber, Latch } from "effect"
import { beforeEach, describe, expect } from "vitest"

const { run, test } = testsOnDatabase()

beforeEach(() => run(cancelCampaigns))

/** Adds a program with a campaign, in the organization and the window of a given campaign. */
const addCampaign = Effect.fnUntraced(function* (campaign: Campaign, slug: string, kind: Campaign["kind"]) {
  const { organizationId, windowStart, windowEnd } = campaign
  const program = yield* createProgram({ organizationId, slug, name: slug, ...SENDER })
  return yield* createCampaign({
    programId: program.id,
    name: "Later",
    kind,
    subject: "s",
    html: FOOTER,
    windowStart,
    windowEnd,
  })
})

/** Seeds a sending campaign with `email(0)`, and a scheduled campaign of a second program with `email(0)` and `email(1)`. */
const seed = Effect.gen(function* () {
  const { organization, campaign } = yield* seedCampaign({ recipients: 1 })
  const later = yield* addCampaign(campaign, "lungs", "survey")
  yield* importLines(later.id, [line(0), line(1)])
  yield* sendCampaign(campaign.id)
  return { organization, campaign, later }
})
const line = (n: number) => ({ number: n + 2, npi: npi(n), email: email(n).toUpperCase() })

const waiting = (campaignId: string) =>
  column<string>`
    select lower(email) as email from recipients where campaign_id = ${campaignId} and withdrawn_at is null order by 1`
const suppressions = Effect.fnUntraced(function* (organizationId: string) {
  return yield* sql`
    select kind, value, reason, applied_at is not null as applied from suppressions
    where organization_id = ${organizationId} and program_id = ''`
})

describe("a hard bounce", () => {
  test("suppresses the address in every program, and withdraws the waiting recipients", function* () {
    for (const reason of ["mailbox_not_found", "mailbox_disabled", "domain_not_found", "address_invalid"] as const) {
      const { organization, later } = yield* seed
      yield* sendWith((yield* claimMessages(1))[0]!, { _tag: "Bounced", reason })
      const entry = { kind: "email", value: email(0), reason: "bounced" }
      expect(yield* suppressions(organization.id)).toEqual([{ ...entry, applied: false }])
      expect(yield* withdrawSuppressed).toBe(1)
      expect(yield* waiting(later.id)).toEqual([email(1)])
      expect(yield* suppressions(organization.id)).toEqual([{ ...entry, applied: true }])
      expect(yield* withdrawSuppressed).toBeUndefined()
      const other = { ...line(0), npi: npi(5) }
      expect(yield* importLines(later.id, [other])).toMatchObject({ imported: 0, suppressed: 1 })
    }
  })

  test("that is reported after the message was sent does the same", function* () {
    const { organization, later } = yield* seed
    const [lease] = yield* claimMessages(1)
    yield* settleSent(lease!)
    yield* reportBounce(lease!.recipientId, { _tag: "Bounced", reason: "mailbox_disabled" })
    expect(yield* suppressions(organization.id)).toMatchObject([{ value: email(0), reason: "bounced" }])
    yield* withdrawSuppressed
    expect(yield* waiting(later.id)).toEqual([email(1)])
  })

  test("leaves a recipient with a message in flight for later", function* () {
    const { organization, campaign, later } = yield* seed
    yield* sendCampaign(later.id)
    const leases = yield* claimMessages(9)
    const other = leases.find((lease) => lease.campaignId === later.id && lease.email.toLowerCase() === email(0))!
    const first = leases.find((lease) => lease.campaignId === campaign.id)!
    yield* settleSent(first)
    yield* reportBounce(first.recipientId, { _tag: "Bounced", reason: "mailbox_not_found" })
    expect(yield* withdrawSuppressed).toBe(0)
    expect(yield* suppressions(organization.id)).toMatchObject([{ applied: false }])
    yield* sql`update messages set lease_until = null where recipient_id = ${other.recipientId}`
    expect(yield* withdrawSuppressed).toBe(1)
    expect(yield* waiting(later.id)).toEqual([email(1)])
    expect(yield* settleSent(other)).toBe(false)
  })
})

test("a soft bounce doesn't suppress: a mailbox that was full for a day may accept mail again", function* () {
  const { organization, later } = yield* seed
  yield* sendWith((yield* claimMessages(1))[0]!, { _tag: "Bounced", reason: "other" })
  expect(isHardBounce("other")).toBe(false)
  expect(yield* suppressions(organization.id)).toEqual([])
  expect(yield* withdrawSuppressed).toBeUndefined()
  expect(yield* waiting(later.id)).toEqual([email(0), email(1)])
})

describe("suppressClinicians of an organization", () => {
  test("suppresses a clinician in every program at once, including future ones", function* () {
    const { organization, campaign, later } = yield* seed
    const clinician = { npi: npi(0), email: null }
    const suppress = suppressClinicians({ organizationId: organization.id }, [clinician], "unsubscribed")
    expect(yield* suppress).toEqual({ added: 1, withdrawn: 2 })
    expect(yield* suppress).toEqual({ added: 0, withdrawn: 0 })
    expect([...(yield* waiting(campaign.id)), ...(yield* waiting(later.id))]).toEqual([email(1)])
    const fresh = yield* addCampaign(campaign, "kidneys", "traffic")
    expect(yield* importLines(fresh.id, [line(0), line(2)])).toMatchObject({ imported: 1, suppressed: 1 })
  })

  test("doesn't affect other organizations", function* () {
    const { organization } = yield* seed
    const { campaign } = yield* seedCampaign({ recipients: 1 })
    yield* suppressClinicians({ organizationId: organization.id }, [{ npi: null, email: email(0) }], "operator")
    expect(yield* waiting(campaign.id)).toEqual([email(0)])
  })
})

/** Starts to suppress the first recipient; returns after two failed attempts. */
const failTwice = Effect.fnUntraced(function* (programId: ProgramId) {
  const suppressions = yield* SuppressionRepository
  const third = yield* Latch.make()
  let tries = 0
  const takeTurn: typeof suppressions.takeTurn = (organizationId) => {
    tries += 1
    return Effect.andThen(tries > 2 ? third.open : Effect.void, suppressions.takeTurn(organizationId))
  }
  const suppressing = yield* suppressClinicians({ programId }, [{ npi: npi(0), email: null }], "operator").pipe(
    Effect.provideService(SuppressionRepository, { ...suppressions, takeTurn }),
    Effect.forkDetach,
  )
  yield* third.await
  return suppressing
})

describe("suppressClinicians", () => {
  test("waits while another transaction of the organization withdraws", function* () {
    const { organization, program } = yield* seedCampaign({ recipients: 2 })
    const { takeTurn } = yield* SuppressionRepository
    const suppressing = yield* whileOpen(takeTurn(organization.id), () => failTwice(program.id))
    expect(yield* Fiber.join(suppressing)).toEqual({ added: 1, withdrawn: 1 })
  })

  test("waits for the message in flight of a withdrawn recipient, and doesn't suppress until then", function* () {
    const { campaign, program } = yield* seedCampaign({ recipients: 2 })
    yield* scheduleCampaign(campaign.id)
    yield* publishChunk()
    yield* sql`update messages set lease_until = 'infinity' where campaign_id = ${campaign.id}`
    const suppressing = yield* failTwice(program.id)
    expect(yield* sql`select from suppressions where program_id = ${program.id}`).toEqual([])
    yield* sql`update messages set lease_until = null where campaign_id = ${campaign.id}`
    expect(yield* Fiber.join(suppressing)).toEqual({ added: 1, withdrawn: 1 })
  })
})
