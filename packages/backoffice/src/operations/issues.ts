import { DeliveryRepository } from "@outreach/domain/deliveries/DeadLetters"
import { FailureGroupId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { FailureGroupReader, issueFilters } from "../deliveries/FailureGroupReader.ts"
import { reason, required } from "./Field.ts"
import { count, InvalidAfter, id, inOps, list, text, time } from "./List.ts"
import { operation } from "./Operation.ts"

export const issues = list("issues list", {
  forPartners: true,
  about:
    "List the causes of failing calls and dead letters, with the number of failed calls and their share; latest failure first",
  filters: issueFilters,
  cursor: { lastAt: Timestamp, id: FailureGroupId },
  *read(filter, { limit, after }) {
    if (filter.largest && after !== null) return yield* new InvalidAfter()
    return yield* FailureGroupReader.use(({ list }) => list(filter, filter.largest ? limit : limit + 1, after))
  },
  columns: {
    ...inOps("id", "endpointId"),
    cause: { ...text("Cause"), of: ({ id }) => id },
    failures: count("Failed calls"),
    share: text("Share of calls"),
    openedAt: time("Since"),
    lastAt: time("Last failure"),
    closedAt: time("Ended"),
    open: count("Dead letters"),
    endpoint: { ...id("Endpoint"), isOfConsole: true, value: ({ endpointId }) => endpointId },
  },
  empty: "No issues.",
  filledBy: null,
})

const of = { groupId: FailureGroupId }

export const showIssue = operation("issues show", {
  access: "reads",
  about: "Show an issue: its cause, since when it lasts or when it ended, and whether it is muted",
  of,
  run: ({ groupId }) => FailureGroupReader.use(({ find }) => find(groupId)),
})

export const muteIssue = operation("issues mute", {
  role: "operator",
  about: "Exclude an issue from lists, counts and alerts until it is unmuted, even if it closes and reopens",
  label: "Mute",
  of,
  input: { reason: required(reason) },
  run: ({ groupId, reason }) =>
    DeliveryRepository.use(({ mute }) => Effect.as(mute(groupId, reason), { issue: groupId })),
  done: () => "Muted. It is only listed under muted issues, even if it reopens.",
  examples: ['ops issues mute fgr_… --reason "their nightly maintenance, ticket 4711"'],
})

export const unmuteIssue = operation("issues unmute", {
  role: "operator",
  about: "Unmute an issue",
  label: "Unmute",
  of,
  run: ({ groupId }) => DeliveryRepository.use(({ unmute }) => Effect.as(unmute(groupId), { issue: groupId })),
  done: () => "Unmuted. It is listed and counted again.",
})
