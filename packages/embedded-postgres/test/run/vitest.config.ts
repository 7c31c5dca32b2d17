import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const project = (name: string) => ({
  test: {
    name,
    globalSetup: fileURLToPath(new URL("../../src/vitestServer.ts", import.meta.url)),
    include: ["*.case.ts"],
  },
})

// Two projects, as two packages are in a run of the whole repository.
export default defineConfig({ test: { projects: [project("one"), project("two")] } })
