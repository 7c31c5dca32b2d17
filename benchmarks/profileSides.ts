import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { cpuTime } from "./cpuTime.ts"
import type { Question } from "./measureRounds.ts"
import { functionOf, packageOf, type Shares, sharesOf } from "./profileShares.ts"
import type { LoadGenerator } from "./startLoadGenerator.ts"
import { type Mains, SIDES, type Side, startServer } from "./startServer.ts"

/** Where a side's CPU time goes. */
export interface Profile {
  readonly side: Side
  /** CPU microseconds of one request, the profiler's own included. */
  readonly cpu: number
  readonly packages: Shares
  readonly functions: Shares
}

const WARM_UP_SECONDS = 3
const SECONDS = 8

/** Runs each side under Node's profiler while it answers a question. */
export async function profileSides(
  databaseUrl: string,
  load: LoadGenerator,
  { name: _, ...question }: Question,
  connections: number,
  mains?: Mains,
): Promise<readonly Profile[]> {
  const profiles: Profile[] = []
  for (const side of SIDES) {
    const folder = mkdtempSync(join(tmpdir(), "outreach-profile-"))
    try {
      const flags = ["--cpu-prof", `--cpu-prof-dir=${folder}`, "--cpu-prof-interval=500"]
      const server = await startServer(side, databaseUrl, flags, mains)
      const asked = { ports: [server.port], connections, ...question }
      await load.run({ ...asked, seconds: WARM_UP_SECONDS })
      const before = cpuTime(server.pid)
      const { requests } = await load.run({ ...asked, seconds: SECONDS })
      const cpu = (cpuTime(server.pid) - before) / requests
      await server.stop()
      const file = join(folder, readdirSync(folder)[0]!)
      profiles.push({
        side,
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
