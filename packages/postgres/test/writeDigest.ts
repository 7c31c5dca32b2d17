import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import type { FunnelStage } from "@outreach/domain/digest/Digest"
import { createIdentifier, type EndpointId, type RecipientId } from "@outreach/domain/Identifier"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { publishEvents } from "@outreach/postgres/events/publishEvents"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { inTransaction } from "@outreach/testing/inTransaction"
import { draftsOf, type Outcome } from "@outreach/testing/outreachOn"
import { applyBatches, receiveEvent } from "@outreach/testing/receiveEvent"
import { npi } from "@outreach/testing/seedCampaign"
import { Effect, References } from "effect"

/** What a writer is told to do. */
export interface WriterTask {
  readonly url: string
  readonly writer: number
  readonly transactions: number
  readonly endpointId: EndpointId
  /** Campaigns of one organization, each under a program of its own. */
  readonly campaigns: ReadonlyArray<Campaign>
  /** The recipients of each campaign. */
  readonly recipientIds: ReadonlyArray<ReadonlyArray<RecipientId>>
  /** The slug of each campaign's program. */
  readonly slugs: ReadonlyArray<string>
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

const pick = <A>(from: ReadonlyArray<A>, n: number): A => from[n % from.length]!

const write = Effect.fnUntraced(function* (task: WriterTask, n: number) {
  const { writer, endpointId, campaigns, recipientIds, slugs } = task
  const seed = n * 7 + writer
  const campaign = pick(campaigns, seed)
  const { organizationId } = campaign
  const outcomes = Array.from(
    { length: 1 + (seed % 9) },
    (_, i) => [pick(pick(recipientIds, seed), seed * i), pick(OUTCOMES, seed + i)] as const,
  )
  const events = yield* draftsOf(campaign, outcomes)
  yield* inTransaction(
    Effect.gen(function* () {
      const at = yield* commitTimestamp(organizationId)
      yield* publishEvents(events, at)
      if (seed % 11 === 0) yield* Effect.fail("taken back")
    }),
  ).pipe(
    Effect.catchIf(
      (error) => error === "taken back",
      () => Effect.void,
    ),
  )
  const from = { organization: { id: organizationId }, endpoint: { id: endpointId } }
  for (let i = 0; i < seed % 4; i++) {
    yield* receiveEvent(from, yield* createIdentifier("event"), `clinician.${pick(STAGES, seed + i)}`, {
      npi: npi(seed % 97),
      email: `clinician${seed % 97}@clinic.test`,
      consumer_program_slug: pick(slugs, seed),
    })
  }
  yield* applyBatches
})

/** Writes what the digest counts over connections of its own, and takes some of it back. */
export const writeDigest = (task: WriterTask): Promise<void> =>
  Effect.runPromise(
    Effect.forEach(
      Array.from({ length: task.transactions }, (_, n) => n),
      (n) => write(task, n),
      { concurrency: 4, discard: true },
    ).pipe(
      Effect.provide(adaptersFor(task.url, { maxConnections: 4 })),
      Effect.provideService(References.MinimumLogLevel, "Warn"),
    ),
  )
