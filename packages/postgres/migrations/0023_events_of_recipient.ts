import type { ConcurrentIndex } from "../src/runMigrations.ts"

/** Finds what happened to one clinician, without a cost for what is sent most: the recipient itself tells that. */
export default {
  index: "events_of_recipient",
  on: `events (organization_id, recipient_id, emitted_at)
    where type in ('outreach.email_bounced', 'outreach.email_opened', 'outreach.email_clicked')`,
} satisfies ConcurrentIndex
