import { issuePage } from "./issuePage.tsx"
import { issuesPage } from "./issuesPage.tsx"
import { purgeIssue, purgePage } from "./purgePage.tsx"
import { cancelReplay } from "./ReplayJobs.tsx"
import { replayDeadLetters, replayPage } from "./replayPage.tsx"

/** The pages and actions about dead letters and replays. */
export const issuesRoutes = [
  issuesPage,
  issuePage,
  replayPage,
  replayDeadLetters,
  purgePage,
  purgeIssue,
  cancelReplay,
] as const
