import { defineEnvVars } from "@sveltejs/kit/env"

export const variables = defineEnvVars({
  WEBHOOK_SECRET: { description: "The endpoint's signing secret, the whole string whsec_…" },
  EVENTS_FILE: { schema: (value) => value ?? "events.jsonl" },
})
