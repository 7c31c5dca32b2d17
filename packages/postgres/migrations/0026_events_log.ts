import type { ConcurrentIndex } from "../src/runMigrations.ts"

/** The log of an organization, for whoever reads it in order: a partner's poller, and each endpoint. */
export default {
  index: "events_log",
  on: "events (organization_id, emitted_at, id)",
} satisfies ConcurrentIndex
