import type { Timestamp } from "@outreach/domain/Timestamp"
import { Flag } from "effect/cli"
import { contractFlag } from "./contractFlag.ts"

/** Creates a flag for a date-time with `Z` or an offset, converted to UTC. */
export const instant = (name: string): Flag.Flag<Timestamp> =>
  contractFlag(
    name,
    ({ Since }) => Since,
    (problem) => `a time such as 2026-12-01T09:00:00Z; it ${problem}`,
  ).pipe(Flag.map((text) => text as Timestamp))
