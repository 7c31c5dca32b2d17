import type { TestProject } from "vitest/node"
import vitestServer from "./vitestServer.ts"

/**
 * Provides a PostgreSQL server as `vitestServer` does, with its data in memory: cloning a database there takes 36 ms of CPU time instead of 200 to 560,
 * most of it for the creation of 640 files.
 */
export default (project: TestProject): Promise<() => Promise<void>> => vitestServer(project, { inMemory: true })
