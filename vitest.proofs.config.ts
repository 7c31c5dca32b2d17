import { availableParallelism } from "node:os"
import { join } from "node:path"
import { defineConfig } from "vitest/config"
import { sequence } from "./vitest.config.ts"

// As in the tests: the processes that proofs start load the same modules.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/node")

/** Checks that kill processes, need a mail server or a browser, or take minutes: each file in its own process. */
export default defineConfig({
  test: {
    include: ["{packages,packages/test-support,apps}/*/test/**/*.proof.ts", "examples/test/**/*.proof.ts"],
    setupFiles: "packages/test-support/testing/src/propertyRuns.ts",
    globalSetup: "packages/test-support/embedded-postgres/src/vitestServer.ts",
    // Two more than there are cores, because proofs wait for half of their time.
    maxWorkers: availableParallelism() + 2,
    // Concurrent tests of a file have a PostgreSQL each.
    maxConcurrency: 3,
    // The tests of a proof are steps of one journey: only the order of files is shuffled.
    sequence: { ...sequence, shuffle: { files: "seed" in sequence, tests: false } },
    unstubEnvs: true,
    testTimeout: 600_000,
    hookTimeout: 300_000,
  },
})
