import type { EVENT_RECIPIENTS } from "@outreach/contract"
import type { OutreachEventType } from "./Event.ts"

interface OutgoingEvent<Recipients> {
  /** Its kind in timelines, and the name of its columns in the digest. */
  readonly name: string
  readonly isInDigest: boolean
  /** Whether it is an open or a click, of which each recipient's first is also counted, and bots are suspected. */
  readonly isHit: boolean
  /**
   * The column of the recipient's row with its time, by which it is found. The other events have an index. An event that lists its
   * recipients needs a column.
   */
  readonly stamp: "published_at" | "sent_at" | (Recipients extends "listed" ? never : null)
}

/** What the service does with each event type that it publishes: timelines, exports, erasures, digest and hits derive from it. */
export const OUTGOING_EVENTS = {
  "outreach.recipients_published": { name: "published", isInDigest: false, isHit: false, stamp: "published_at" },
  "outreach.email_sent": { name: "sent", isInDigest: true, isHit: false, stamp: "sent_at" },
  "outreach.email_bounced": { name: "bounced", isInDigest: true, isHit: false, stamp: null },
  "outreach.email_opened": { name: "opened", isInDigest: true, isHit: true, stamp: null },
  "outreach.email_clicked": { name: "clicked", isInDigest: true, isHit: true, stamp: null },
} as const satisfies { readonly [Type in OutreachEventType]: OutgoingEvent<(typeof EVENT_RECIPIENTS)[Type]> }
