import { TRACKING_PATHS, type TrackingKind } from "@outreach/domain/outreach/TrackingLinks"

/** Reads what follows the path of a kind of link, without a query that a mail filter may have appended. */
export const payloadOf = (kind: TrackingKind, url: string): string =>
  url.slice(TRACKING_PATHS[kind].length).split("?")[0]!
