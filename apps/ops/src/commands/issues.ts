import {
  FAILURE_GROUP_STATES,
  type FailureGroup,
  FailureGroupReader,
} from "@outreach/backoffice/deliveries/FailureGroupReader"
import { deadLetterSelector } from "@outreach/backoffice/operations/deadLetters"
import { muteIssue, unmuteIssue } from "@outreach/backoffice/operations/issues"
import { describeCause, describeShare } from "@outreach/domain/deliveries/describeCause"
import { FailureGroupId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { FailureGroupRepositoryPg } from "@outreach/postgres/deliveries/FailureGroupRepositoryPg"
import { Effect, Layer, Struct } from "effect"
import { group, reading } from "../Declaration.ts"
import { endpointFilter, organizationId } from "../inputs/filters.ts"
import { argument, choice, optional } from "../inputs/Input.ts"
import { command, inputsOf } from "../operationCommand.ts"

const groupId = argument(FailureGroupId, "The issue's id, fgr_…")

const toRow = (found: FailureGroup) => ({ ...found, cause: describeCause(found), share: describeShare(found) })

const list = reading({
  about:
    "List the causes of failing calls and dead letters, with the number of failed calls and their share; latest failure first",
  input: {
    organizationId: optional(organizationId),
    endpointId: endpointFilter,
    ...inputsOf(Struct.pick(deadLetterSelector, ["status"])),
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

export const issues = group({
  about: "Why calls to endpoints fail, by their cause",
  commands: { list, show, mute: command(muteIssue), unmute: command(unmuteIssue) },
  services: Layer.merge(FailureGroupReader.layer, FailureGroupRepositoryPg),
})
