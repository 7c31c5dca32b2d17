import {
  FAILURE_GROUP_STATES,
  type FailureGroup,
  FailureGroupReader,
} from "@outreach/backoffice/deliveries/FailureGroupReader"
import { describeCause, describeShare } from "@outreach/domain/deliveries/describeCause"
import { FailureGroupRepository } from "@outreach/domain/deliveries/FailureGroupRepository"
import { FailureGroupId } from "@outreach/domain/Identifier"
import { AuditReason } from "@outreach/domain/operators/AuditReason"
import { Timestamp } from "@outreach/domain/Timestamp"
import { FailureGroupRepositoryPg } from "@outreach/postgres/deliveries/FailureGroupRepositoryPg"
import { Effect, Layer, Struct } from "effect"
import { changing, group, reading } from "../Declaration.ts"
import { deadLetterSelector, endpointFilter, organizationId } from "../inputs/filters.ts"
import { argument, choice, described, flag, optional } from "../inputs/Input.ts"

const groupId = argument(FailureGroupId, "The issue's id, fgr_…")

const toRow = (found: FailureGroup) => ({ ...found, cause: describeCause(found), share: describeShare(found) })

const list = reading({
  about:
    "List the causes of failing calls and dead letters, with the number of failed calls and their share; latest failure first",
  input: {
    organizationId: optional(organizationId),
    endpointId: endpointFilter,
    status: described(deadLetterSelector.status, "Only those with this HTTP status, such as 503"),
    state: optional(
      choice(
        Struct.keys(FAILURE_GROUP_STATES),
        "Only those in this state: ongoing, with dead letters to replay, muted, or ended without dead letters",
      ),
    ),
  },
  cursor: { lastAt: Timestamp, id: FailureGroupId },
  run: (filter, { limit, after }) =>
    FailureGroupReader.use(({ list }) => Effect.map(list(filter, limit, after), (rows) => rows.map(toRow))),
  columns: ["id", "endpointId", "cause", "failures", "share", "openedAt", "lastAt", "closedAt", "open"],
})

const show = reading({
  about: "Show an issue: its cause, since when it lasts or when it ended, and whether it is muted",
  input: { groupId },
  run: ({ groupId }) => FailureGroupReader.use(({ find }) => Effect.map(find(groupId), toRow)),
})

const mute = changing({
  about: "Exclude an issue from lists, counts and alerts until it is unmuted, even if it closes and reopens",
  examples: ['ops issues mute fgr_… --reason "their nightly maintenance, ticket 4711"'],
  input: { groupId, reason: flag(AuditReason, "The reason", "text") },
  run: ({ groupId, reason }) =>
    FailureGroupRepository.use(({ mute }) => Effect.as(mute(groupId, reason), { issue: groupId })),
  format: ({ issue }) => `${issue} is muted.`,
})

const unmute = changing({
  about: "Unmute an issue",
  input: { groupId },
  run: ({ groupId }) => FailureGroupRepository.use(({ unmute }) => Effect.as(unmute(groupId), { issue: groupId })),
  format: ({ issue }) => `${issue} is not muted.`,
})

export const issues = group({
  about: "Why calls to endpoints fail, by their cause",
  commands: { list, show, mute, unmute },
  services: Layer.merge(FailureGroupReader.layer, FailureGroupRepositoryPg),
})
