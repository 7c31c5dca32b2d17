import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

// Processes that tests start load the same modules: compiling them would take half of their CPU time.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(import.meta.resolve("./node_modules/.cache/node"))

/** Every room's tests in one project: two processes share what they load, and all share one PostgreSQL. */
export default defineConfig({
  test: {
    include: ["{packages,apps}/*/test/**/*.test.ts", "examples/test/**/*.test.ts"],
    globalSetup: "packages/embedded-postgres/src/vitestServer.ts",
    // Loading the modules anew for each file would take longer than the tests.
    isolate: false,
    unstubEnvs: true,
    // Far above what a busy machine needs: a test that hangs ends, and no test is about time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
