import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    globalSetup: "@outreach/embedded-postgres/vitestServer",
    testTimeout: 60_000,
    hookTimeout: 60_000,
    unstubEnvs: true,
  },
})
