import { Context, type Effect } from "effect"
import type { CampaignId } from "../Identifier.ts"
import type { NewSeedMessage, SeedMessage } from "./SeedMessage.ts"

/** Keeps the messages to seeds. Their hits and bounces are stored by those who receive them. */
export class SeedRepository extends Context.Service<
  SeedRepository,
  {
    /** Stores messages before they are sent, unless one is to a recipient of the organization; returns how many are. */
    add(messages: ReadonlyArray<NewSeedMessage>): Effect.Effect<number>
    /** Stores the outcome of the attempt to send one. */
    settle(
      message: Pick<SeedMessage, "organizationId" | "id">,
      outcome: NonNullable<SeedMessage["outcome"]>,
      reply: string,
    ): Effect.Effect<void>
    /** Lists the messages of a campaign, newest first. */
    list(campaignId: CampaignId, limit: number): Effect.Effect<ReadonlyArray<SeedMessage>>
    /** Forgets messages that were sent more than a number of days ago, a bounded number of them; returns how many, 0 when none is left. */
    forget(days: number): Effect.Effect<number>
  }
>()("domain/mail/SeedRepository") {}
