import { EVENT_DIRECTIONS } from "@outreach/contract/names"
import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { Flag } from "effect/cli"
import { identifier } from "./identifier.ts"
import { instant } from "./instant.ts"

/** Which dead letters are meant, whatever their age; all that are given must hold. */
export const whichDeadLetters = {
  endpoint: Flag.String("endpoint").pipe(
    Flag.withDescription("Only those to this endpoint, whe_…"),
    Flag.filterMap(...identifier("endpoint")),
    Flag.optional,
  ),
  type: Flag.Literals("type", Object.keys(EVENT_DIRECTIONS)).pipe(
    Flag.withMetavar("event-type"),
    Flag.withDescription("Only events of this type, such as outreach.email_sent"),
    Flag.optional,
  ),
  reason: Flag.Literals("reason", DEAD_LETTER_REASONS).pipe(
    Flag.withDescription(
      "Only those that the partner refused, that are out of attempts, or that lost worker after worker",
    ),
    Flag.optional,
  ),
}

/** Which dead letters are meant; all that are given must hold. */
export const deadLetterFilters = {
  ...whichDeadLetters,
  from: instant("from").pipe(
    Flag.withDescription("Only those set aside at this time or later, such as 2026-12-01T09:00:00Z"),
    Flag.optional,
  ),
  to: instant("to").pipe(Flag.withDescription("Only those set aside before this time"), Flag.optional),
}
