import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: { globalSetup: fileURLToPath(import.meta.resolve("@outreach/embedded-postgres/vitestServer")) },
})
