import { TRACKING_PATHS, type TrackingKind } from "@outreach/domain/hits/TrackingLinks"

/** Reads what follows the path of a kind of link, without a query that a mail filter may have appended. */
export const trackingPayload = (kind: TrackingKind, url: string): string =>
  url.slice(TRACKING_PATHS[kind].length).split("?")[0]!
