import { DeliveryRepository } from "@outreach/domain/deliveries/DeadLetters"
import { FailureGroupId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { FailureGroupReader } from "../deliveries/FailureGroupReader.ts"
import { reason, required } from "./Field.ts"
import { operation } from "./Operation.ts"

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
