export { classify, type NetworkFailure, type Outcome, type Reason, type Reply, type Verdict } from "./classify.ts"
export { type NextAttempt, nextAttempt } from "./nextAttempt.ts"
export { formatSchedule, parseSchedule, type Schedule, SPECIFIED_SCHEDULE } from "./schedule.ts"
