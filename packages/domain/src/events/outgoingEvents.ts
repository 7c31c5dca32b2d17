import type { EVENT_TYPES } from "@outreach/contract"
import type { OutreachEventType } from "./Event.ts"

interface OutgoingEvent<Recipients> {
  /** Its kind in timelines, and the name of its columns in the digest. */
  readonly name: string
  readonly isInDigest: boolean
  /** Whether it is an open or a click, which may come from a bot, and of which each recipient's first is also counted. */
  readonly isHit: boolean
  /** The column of the recipient's row with its time; null if it is found by index. An event that lists its recipients needs a column. */
  readonly stamp: "published_at" | "sent_at" | (Recipients extends "listed" ? never : null)
}

/** The event types that the service publishes. Timelines, exports, erasures, the digest and hits derive from this table. */
export const OUTGOING_EVENTS = {
  "outreach.recipients_published": { name: "published", isInDigest: false, isHit: false, stamp: "published_at" },
  "outreach.email_sent": { name: "sent", isInDigest: true, isHit: false, stamp: "sent_at" },
  "outreach.email_bounced": { name: "bounced", isInDigest: true, isHit: false, stamp: null },
  "outreach.email_opened": { name: "opened", isInDigest: true, isHit: true, stamp: null },
  "outreach.email_clicked": { name: "clicked", isInDigest: true, isHit: true, stamp: null },
} as const satisfies { readonly [Type in OutreachEventType]: OutgoingEvent<(typeof EVENT_TYPES)[Type]["recipients"]> }

export const outboundEventTypes: ReadonlyArray<string> = Object.keys(OUTGOING_EVENTS)
