import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { Flag } from "effect/cli"
import { endpointFilter, eventTypeFilter } from "./commonFlags.ts"
import { instant } from "./times.ts"

/** The flags that select dead letters by anything but time. A dead letter must match every given flag. */
export const deadLetterSelector = {
  endpoint: endpointFilter,
  type: eventTypeFilter,
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
  from: instant("from", "Only those that became dead letters at this time or later, such as 2026-12-01T09:00:00Z").pipe(
    Flag.optional,
  ),
  to: instant("to", "Only those that became dead letters before this time").pipe(Flag.optional),
}
