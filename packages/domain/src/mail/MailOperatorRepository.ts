import { Context, type Effect } from "effect"

/** How long an operator that was looked up is believed, in seconds. */
export const OPERATOR_MAX_AGE_SECONDS = 86_400

/** How long a domain that could not be looked up waits, in seconds. */
export const LOOK_UP_AGAIN_SECONDS = 600

/** Who runs the mail servers of the domains that are written to. */
export class MailOperatorRepository extends Context.Service<
  MailOperatorRepository,
  {
    need(domains: ReadonlySet<string>): Effect.Effect<void>
    /** Takes domains that are written to and were not looked up within `OPERATOR_MAX_AGE_SECONDS`; others take them after `LOOK_UP_AGAIN_SECONDS`. */
    take(limit: number): Effect.Effect<ReadonlyArray<string>>
    /** Stores what was found: an operator for each domain, or null where it is the domain itself. */
    store(found: ReadonlyMap<string, string | null>): Effect.Effect<void>
    /** Forgets the domains that were not written to for a month. */
    readonly forget: Effect.Effect<void>
  }
>()("domain/mail/MailOperatorRepository") {}
