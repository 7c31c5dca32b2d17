import type { CalendarDate } from "@outreach/domain/digest/Digest"
import type { Flag } from "effect/cli"
import { contractFlag } from "./contractFlag.ts"

/** Creates a flag for a calendar date, parsed as the API does. */
export const calendarDate = (name: string): Flag.Flag<CalendarDate> =>
  contractFlag(
    name,
    ({ operations }) => operations.getDigest.query.shape.date,
    () => "a date that exists, such as 2026-11-20",
  )
