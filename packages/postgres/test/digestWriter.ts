import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import type { FunnelStage } from "@outreach/domain/digest/Digest"
import type { RecipientId } from "@outreach/domain/Identifier"
import { Effect, References } from "effect"
import { stamp } from "../src/OrganizationClock.ts"
import { publishEvents } from "../src/publishEvents.ts"
import { adaptersFor } from "./adaptersFor.ts"
import { inTransaction } from "./inTransaction.ts"
import { draftsOf, type Outcome } from "./outreachOn.ts"
import { qualifyOn } from "./qualifyOn.ts"

// A process that writes what the digest counts, and takes some of it back: `node digestWriter.ts <what to do as JSON>`.

/** What a writer is told to do. */
export interface WriterTask {
  readonly url: string
  readonly writer: number
  readonly transactions: number
  /** Campaigns of one organization. */
  readonly campaigns: ReadonlyArray<Campaign>
  /** The recipients of each campaign. */
  readonly recipientIds: ReadonlyArray<ReadonlyArray<RecipientId>>
}

const OUTCOMES: ReadonlyArray<Outcome> = [
  "sent",
  "human opened",
  "bot opened",
  "human clicked",
  "bot clicked",
  "bounced",
]
const STAGES: ReadonlyArray<FunnelStage> = ["account_created", "learner_qualified", "completer_qualified"]

const { url, writer, transactions, campaigns, recipientIds } = JSON.parse(process.argv[2]!) as WriterTask
const pick = <A>(from: ReadonlyArray<A>, n: number): A => from[n % from.length]!

const write = Effect.fnUntraced(function* (n: number) {
  const seed = n * 7 + writer
  const campaign = pick(campaigns, seed)
  const { organizationId, programId } = campaign
  const outcomes = Array.from(
    { length: 1 + (seed % 9) },
    (_, i) => [pick(pick(recipientIds, seed), seed * i), pick(OUTCOMES, seed + i)] as const,
  )
  const clinicians = Array.from({ length: seed % 4 }, (_, i) => ({
    programId,
    stage: pick(STAGES, seed + i),
    npi: String(seed % 97),
  }))
  const events = yield* draftsOf(campaign, outcomes)
  yield* inTransaction(
    Effect.gen(function* () {
      const at = yield* stamp(organizationId)
      yield* publishEvents(events, at)
      yield* qualifyOn(organizationId, clinicians, at)
      if (seed % 11 === 0) yield* Effect.fail("taken back")
    }),
  ).pipe(
    Effect.catchIf(
      (error) => error === "taken back",
      () => Effect.void,
    ),
  )
})

await Effect.runPromise(
  Effect.forEach(
    Array.from({ length: transactions }, (_, n) => n),
    write,
    { concurrency: 4, discard: true },
  ).pipe(
    Effect.provide(adaptersFor(url, { maxConnections: 4 })),
    Effect.provideService(References.MinimumLogLevel, "Warn"),
  ),
)
