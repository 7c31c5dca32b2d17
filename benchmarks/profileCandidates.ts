import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { cpuTime } from "./cpuTime.ts"
import type { Workload } from "./measureRounds.ts"
import { functionOf, packageOf, type Shares, sharesOf } from "./profileShares.ts"
import type { LoadGenerator } from "./startLoadGenerator.ts"
import { CANDIDATES, type CandidateName, type Mains, startServer } from "./startServer.ts"

/** A candidate's CPU time by package and by function. */
export interface Profile {
  readonly candidate: CandidateName
  /** CPU microseconds per request, including the profiler's. */
  readonly cpu: number
  readonly packages: Shares
  readonly functions: Shares
}

const WARM_UP_SECONDS = 3
const SECONDS = 8

/** Runs each candidate under Node's profiler while it serves a workload. */
export async function profileCandidates(
  databaseUrl: string,
  load: LoadGenerator,
  { name: _, ...workload }: Workload,
  connections: number,
  mains?: Mains,
): Promise<readonly Profile[]> {
  const profiles: Profile[] = []
  for (const candidate of CANDIDATES) {
    const folder = mkdtempSync(join(tmpdir(), "outreach-profile-"))
    try {
      const flags = ["--cpu-prof", `--cpu-prof-dir=${folder}`, "--cpu-prof-interval=500"]
      const server = await startServer(candidate, databaseUrl, flags, mains)
      const profiledLoad = { ports: [server.port], connections, ...workload }
      await load.run({ ...profiledLoad, seconds: WARM_UP_SECONDS })
      const before = cpuTime(server.pid)
      const { requests } = await load.run({ ...profiledLoad, seconds: SECONDS })
      const cpu = (cpuTime(server.pid) - before) / requests
      await server.stop()
      const file = join(folder, readdirSync(folder)[0]!)
      profiles.push({
        candidate,
        cpu,
        packages: sharesOf(file, SECONDS, packageOf),
        functions: sharesOf(file, SECONDS, functionOf),
      })
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
  return profiles
}
