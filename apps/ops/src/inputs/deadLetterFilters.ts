import { EVENT_DIRECTIONS } from "@outreach/contract/names"
import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { EndpointId } from "@outreach/domain/Identifier"
import { Flag } from "effect/cli"
import { parsedFlag } from "./parsedInput.ts"
import { instant } from "./times.ts"

/** The flags that select dead letters by anything but time. A dead letter must match every given flag. */
export const deadLetterSelector = {
  endpoint: parsedFlag("endpoint", EndpointId, "Only those to this endpoint, whe_…").pipe(Flag.optional),
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
  from: instant("from", "Only those that became dead letters at this time or later, such as 2026-12-01T09:00:00Z").pipe(
    Flag.optional,
  ),
  to: instant("to", "Only those that became dead letters before this time").pipe(Flag.optional),
}
