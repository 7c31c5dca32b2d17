import type { EVENT_TYPES } from "@outreach/contract"
import type { OutreachEventType } from "./Event.ts"

/** A column of the recipient's row with the time of an event. */
type Stamp = "published_at" | "sent_at" | "bounced_at"

interface OutgoingEvent<Recipients> {
  /** Its kind in timelines, and the name of its columns in the digest. */
  readonly name: string
  readonly isInDigest: boolean
  /** Whether it is an open or a click, which may come from a bot, and of which each recipient's first is also counted. */
  readonly isHit: boolean
  /** The column that it stamps, in addition to the time of the recipient's last event. */
  readonly stamp: Recipients extends "listed" ? Stamp : Stamp | null
  /** Whether it is found by an index of recipients; otherwise by its stamp. An event that lists its recipients isn't in the index. */
  readonly isIndexed: Recipients extends "listed" ? false : boolean
}

/** The event types that the service publishes. Recipients' stamps, timelines, exports, erasures, the digest and hits derive from this table. */
export const OUTGOING_EVENTS = {
  "outreach.recipients_published": {
    name: "published",
    isInDigest: false,
    isHit: false,
    stamp: "published_at",
    isIndexed: false,
  },
  "outreach.email_sent": { name: "sent", isInDigest: true, isHit: false, stamp: "sent_at", isIndexed: false },
  "outreach.email_bounced": { name: "bounced", isInDigest: true, isHit: false, stamp: "bounced_at", isIndexed: true },
  "outreach.email_opened": { name: "opened", isInDigest: true, isHit: true, stamp: null, isIndexed: true },
  "outreach.email_clicked": { name: "clicked", isInDigest: true, isHit: true, stamp: null, isIndexed: true },
} as const satisfies { readonly [Type in OutreachEventType]: OutgoingEvent<(typeof EVENT_TYPES)[Type]["recipients"]> }

export const outboundEventTypes: ReadonlyArray<string> = Object.keys(OUTGOING_EVENTS)
