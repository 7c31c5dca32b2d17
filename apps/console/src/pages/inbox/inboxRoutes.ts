import { replayInbox, replayInboxEvent } from "./inboxActions.ts"
import { inboxEventPage, showInboxEvent } from "./inboxEventPage.tsx"
import { inboxPage } from "./inboxPage.tsx"

/** What partners sent. */
export const inboxRoutes = [inboxPage, inboxEventPage, showInboxEvent, replayInbox, replayInboxEvent] as const
