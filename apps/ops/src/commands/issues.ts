import { issues as issueList } from "@outreach/backoffice/lists/issues"
import { muteIssue, showIssue, unmuteIssue } from "@outreach/backoffice/operations/issues"
import { group } from "../group.ts"

export const issues = group("issues", "Why calls to endpoints fail, by their cause", [
  issueList,
  showIssue,
  muteIssue,
  unmuteIssue,
])
