import { describe, expect } from "@effect/vitest"
import { publishChunk, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import type { ProgramId } from "@outreach/domain/Identifier"
import { WithdrawalRepository } from "@outreach/domain/suppressions/WithdrawalRepository"
import { suppressClinicians } from "@outreach/domain/suppressions/Withdrawals"
import { effectTest } from "@outreach/testing/effectTest"
import { whileOpen } from "@outreach/testing/inTransaction"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Fiber, Latch } from "effect"
import { SqlClient } from "effect/sql"

const test = effectTest(runOnDatabase())

/** Begins to suppress the first recipient; returns once that was tried twice in vain. */
const failTwice = Effect.fnUntraced(function* (programId: ProgramId) {
  const withdrawals = yield* WithdrawalRepository
  const third = yield* Latch.make()
  let tries = 0
  const takeTurn: typeof withdrawals.takeTurn = (organizationId) => {
    tries += 1
    return Effect.andThen(tries > 2 ? third.open : Effect.void, withdrawals.takeTurn(organizationId))
  }
  const suppressing = yield* suppressClinicians({ programId }, [{ npi: npi(0), email: null }], "operator").pipe(
    Effect.provideService(WithdrawalRepository, { ...withdrawals, takeTurn }),
    Effect.forkDetach,
  )
  yield* third.await
  return suppressing
})

describe("suppressClinicians", () => {
  test("waits while another transaction of the organization withdraws", function* () {
    const { organization, program } = yield* seedCampaign({ recipients: 2 })
    const { takeTurn } = yield* WithdrawalRepository
    const suppressing = yield* whileOpen(takeTurn(organization.id), () => failTwice(program.id))
    expect(yield* Fiber.join(suppressing)).toEqual({ added: 1, withdrawn: 1 })
  })

  test("waits for the message in flight to whom it withdraws, and suppresses nobody meanwhile", function* () {
    const sql = yield* SqlClient.SqlClient
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
