import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { issues as issueList } from "@outreach/backoffice/lists/issues"
import { muteIssue, unmuteIssue } from "@outreach/backoffice/operations/issues"
import { FailureGroupId } from "@outreach/domain/Identifier"
import { FailureGroupRepositoryPg } from "@outreach/postgres/deliveries/FailureGroupRepositoryPg"
import { Layer } from "effect"
import { group, reading } from "../Declaration.ts"
import { listCommand } from "../listCommand.ts"
import { command, idArgument } from "../operationCommand.ts"

const show = reading({
  about: "Show an issue: its cause, since when it lasts or when it ended, and whether it is muted",
  input: { groupId: idArgument("groupId", FailureGroupId) },
  run: ({ groupId }) => FailureGroupReader.use(({ find }) => find(groupId)),
})

export const issues = group({
  about: "Why calls to endpoints fail, by their cause",
  commands: { list: listCommand(issueList), show, mute: command(muteIssue), unmute: command(unmuteIssue) },
  services: Layer.merge(FailureGroupReader.layer, FailureGroupRepositoryPg),
})
