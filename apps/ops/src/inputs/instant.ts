import { Since } from "@outreach/contract"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Option } from "effect"

/** Reads a date-time with `Z` or an offset as UTC; to be spread into `filterMap` of a flag. */
export const instant = [
  (text: string): Option.Option<Timestamp> => {
    const { data } = Since.safeParse(text)
    return data === undefined ? Option.none() : Option.some(data as Timestamp)
  },
  (text: string) => `a time such as 2026-12-01T09:00:00Z; it ${Since.safeParse(text).error?.issues[0]?.message}`,
] as const
