import type { ConcurrentIndex } from "../src/runMigrations.ts"

/** Finds the messages whose outcome nobody knows. */
export default {
  index: "messages_quarantined",
  on: "messages (quarantined_at) where quarantined_at is not null",
} satisfies ConcurrentIndex
