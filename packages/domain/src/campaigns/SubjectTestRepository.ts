import { Context, type Effect } from "effect"
import type { TestSubject } from "../mail/Message.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { CampaignKey } from "./Campaign.ts"
import type { SubjectCounts, SubjectFigures, SubjectTest, SubjectTestState } from "./SubjectTest.ts"

/** A test of a campaign that is sending, whose winner is not decided. */
export interface UndecidedTest extends CampaignKey {
  readonly beganAt: Timestamp
  readonly afterSeconds: number
  readonly windowEnd: Timestamp
  /** The database's clock, in Unix milliseconds. */
  readonly now: number
}

export class SubjectTestRepository extends Context.Service<
  SubjectTestRepository,
  {
    create(campaign: CampaignKey, test: SubjectTest): Effect.Effect<void>
    find(campaign: CampaignKey): Effect.Effect<SubjectTestState | undefined>
    /** Counts the outcomes of both halves of the test group, and of the others. */
    figures(campaign: CampaignKey): Effect.Effect<ReadonlyArray<SubjectFigures>>
    readonly undecided: Effect.Effect<ReadonlyArray<UndecidedTest>>
    /** Locks a test that is still undecided, its campaign sending, and counts; undefined if it is not, or if another worker decides. */
    lockUndecided(campaign: CampaignKey): Effect.Effect<SubjectCounts | undefined>
    decide(campaign: CampaignKey, winner: TestSubject, counts: SubjectCounts): Effect.Effect<void>
    /** Makes messages due that waited for the winner of a test that is decided; returns how many, or undefined when none waits. */
    release(limit: number): Effect.Effect<(CampaignKey & { readonly count: number }) | undefined>
    /** Lets a campaign that has messages due again be served at once; not in a transaction, because it waits for claims. */
    bringForward(campaign: CampaignKey): Effect.Effect<void>
  }
>()("domain/campaigns/SubjectTestRepository") {}
