import { EVENT_DIRECTIONS } from "@outreach/contract/names"
import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { Flag } from "effect/cli"
import { identifier } from "./identifier.ts"
import { instant } from "./instant.ts"

/** The flags that select dead letters by anything but time. A dead letter must match every given flag. */
export const deadLetterSelector = {
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
      "Only those that the partner rejected, that ran out of attempts, or that crashed several workers",
    ),
    Flag.optional,
  ),
}

/** The flags that select dead letters. A dead letter must match every given flag. */
export const deadLetterFilters = {
  ...deadLetterSelector,
  from: instant("from").pipe(
    Flag.withDescription("Only those that became dead letters at this time or later, such as 2026-12-01T09:00:00Z"),
    Flag.optional,
  ),
  to: instant("to").pipe(Flag.withDescription("Only those that became dead letters before this time"), Flag.optional),
}
