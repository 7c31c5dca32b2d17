import type { ConcurrentIndex } from "../src/runMigrations.ts"

/** Finds what was received about one clinician. An event comes into it when it is applied, so that receiving costs nothing more. */
export default {
  index: "inbox_applied_of_clinician",
  on: "inbox (organization_id, npi, received_at) where applied_at is not null",
} satisfies ConcurrentIndex
