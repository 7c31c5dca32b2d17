import { Context, type Effect } from "effect"
import type { RecipientRef } from "../hits/TrackingLinks.ts"
import type { OrganizationId, RecipientId } from "../Identifier.ts"
import type { ReplyText } from "./Reply.ts"

/** Keeps what people wrote to return paths. */
export class ReplyRepository extends Context.Service<
  ReplyRepository,
  {
    /** Keeps a reply of a recipient who is locked; `dropped` beyond `MAX_REPLIES_PER_DAY`, `repeated` when the same is kept already. */
    keep(to: RecipientRef, reply: ReplyText): Effect.Effect<"kept" | "dropped" | "repeated">
    /** Marks the replies of a recipient as done; returns how many of them waited. */
    markDone(organizationId: OrganizationId, recipientId: RecipientId): Effect.Effect<number>
    /** Forgets some replies that are older than a number of days, done or not; returns how many, 0 when all is done. */
    forget(days: number): Effect.Effect<number>
  }
>()("domain/mail/ReplyRepository") {}
