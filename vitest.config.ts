import { availableParallelism } from "node:os"
import { join } from "node:path"
import { defineConfig } from "vitest/config"

/** With TEST_SEED, the order of files and tests is shuffled. */
const { TEST_SEED } = process.env
export const sequence = TEST_SEED === undefined ? {} : { shuffle: true, seed: Number(TEST_SEED) }

// Processes of tests load the same modules: compiling them would take half of their CPU time.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/node")

/** The tests of all packages in one project: a few processes share their modules, and all share one PostgreSQL. */
export default defineConfig({
  test: {
    include: ["{packages,packages/test-support,apps}/*/test/**/*.test.{ts,tsx}", "examples/test/**/*.test.ts"],
    setupFiles: "packages/test-support/testing/src/propertyRuns.ts",
    globalSetup: "packages/test-support/embedded-postgres/src/vitestServer.ts",
    // One more than there are cores, because tests wait for a quarter of their time.
    maxWorkers: availableParallelism() + 1,
    // Loading the modules again for each file would take longer than the tests.
    isolate: false,
    sequence,
    unstubEnvs: true,
    // Far above the need of a busy machine: it ends a test that hangs, and no test depends on time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
