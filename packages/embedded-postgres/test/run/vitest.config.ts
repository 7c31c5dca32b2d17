import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const project = (name: string) => ({ test: { name, include: ["*.case.ts"] } })

export default defineConfig({
  test: {
    globalSetup: fileURLToPath(new URL("../../src/vitestServer.ts", import.meta.url)),
    projects: [project("one"), project("two")],
  },
})
