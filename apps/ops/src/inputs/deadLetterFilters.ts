import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { FailureGroupId } from "@outreach/domain/Identifier"
import type { DeadLetterFilter } from "@outreach/postgres/deliveries/DeadLetterRepository"
import { Option } from "effect"
import { type Command, Flag } from "effect/cli"
import { endpointFilter, eventTypeFilter, organization } from "./commonFlags.ts"
import { parsedFlag, wholeNumberFlag } from "./parsedInput.ts"
import { pickDefined } from "./pickDefined.ts"
import { instant } from "./times.ts"

/** `--status`: only dead letters whose last attempt had this HTTP status. */
export const statusFilter = wholeNumberFlag(
  "status",
  100,
  599,
  "Only those whose last attempt had this HTTP status, such as 503",
).pipe(Flag.optional)

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
  group: parsedFlag("group", FailureGroupId, "Only those of this group of `dead-letters groups`, fgr_…").pipe(
    Flag.optional,
  ),
  status: statusFilter,
  organization: organization.pipe(Flag.optional),
}

/** The flags that select dead letters. A dead letter must match every given flag. */
export const deadLetterFilters = {
  ...deadLetterSelector,
  from: instant("from", "Only those that became dead letters at this time or later, such as 2026-12-01T09:00:00Z").pipe(
    Flag.optional,
  ),
  to: instant("to", "Only those that became dead letters before this time").pipe(Flag.optional),
}

/** Returns the filter that the given flags make. */
export const deadLetterFilter = ({
  endpoint,
  type,
  reason,
  group,
  status,
  organization,
  from = Option.none(),
  to = Option.none(),
}: Command.Command.Config.Infer<typeof deadLetterSelector> &
  Partial<Command.Command.Config.Infer<Pick<typeof deadLetterFilters, "from" | "to">>>): DeadLetterFilter =>
  pickDefined({
    endpointId: endpoint,
    eventType: type,
    reason,
    groupId: group,
    status,
    organizationId: organization,
    from,
    to,
  })
