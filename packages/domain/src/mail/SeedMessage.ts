import { Effect, Schema } from "effect"
import { CampaignId, createIdentifier, OrganizationId, RecipientId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"

// Glossary. Seed: a mailbox of the operators' own at a large provider, which gets a campaign's message before the recipients do.

/** A message of a campaign to a seed: what its mail server answered, and what came back since. */
export const SeedMessage = Schema.Struct({
  organizationId: OrganizationId,
  /** Takes the place of a recipient's in its links and its return path, and is none. */
  id: RecipientId,
  campaignId: CampaignId,
  email: Schema.String,
  createdAt: Timestamp,
  /** Null until the mail server answered; `unreachable` where it judged nothing. */
  outcome: Schema.NullOr(Schema.Literals(["accepted", "refused", "unreachable"])),
  /** What the mail server said, or a later report that it bounced. */
  reply: Schema.NullOr(Schema.String),
  bouncedAt: Schema.NullOr(Timestamp),
  openedAt: Schema.NullOr(Timestamp),
  clickedAt: Schema.NullOr(Timestamp),
  unsubscribedAt: Schema.NullOr(Timestamp),
})
export type SeedMessage = typeof SeedMessage.Type

/** Where the version of a UUID stands in an id. */
const VERSION_AT = "rcp_".length + 12

/** Creates the id of a message to a seed: a UUIDv8, which RFC 9562 leaves to us, so that no table is searched for the hits of others. */
export const createSeedId = Effect.map(
  createIdentifier("recipient"),
  (id) => `${id.slice(0, VERSION_AT)}8${id.slice(VERSION_AT + 1)}` as RecipientId,
)

/** Reports whether an id may be that of a message to a seed. */
export const isSeedId = (id: RecipientId): boolean => id[VERSION_AT] === "8"

/** Returns the last that is known of a message to a seed. After `accepted`, nothing came yet. */
export const seedState = (
  seed: Pick<SeedMessage, "outcome" | "bouncedAt" | "openedAt" | "clickedAt" | "unsubscribedAt">,
): string => {
  if (seed.bouncedAt !== null) return "bounced"
  if (seed.unsubscribedAt !== null) return "unsubscribed"
  if (seed.clickedAt !== null) return "clicked"
  return seed.openedAt !== null ? "opened" : (seed.outcome ?? "unknown")
}

export type NewSeedMessage = Pick<SeedMessage, "organizationId" | "id" | "campaignId" | "email">
