import { cpuTime } from "./cpuTime.ts"
import type { Workload } from "./measureRounds.ts"
import { type Profile, profileShares } from "./profileShares.ts"
import type { LoadGenerator } from "./startLoadGenerator.ts"
import { CANDIDATES, type CandidateName, type Mains, startServer } from "./startServer.ts"

const WARM_UP_SECONDS = 3
const SECONDS = 8

/** Runs each candidate under Node's profiler while it serves a workload. */
export async function profileCandidates(
  databaseUrl: string,
  load: LoadGenerator,
  { name: _, ...workload }: Workload,
  connections: number,
  mains?: Mains,
): Promise<ReadonlyMap<CandidateName, Profile>> {
  const profiles = new Map<CandidateName, Profile>()
  for (const candidate of CANDIDATES) {
    const profile = await profileShares(async (flags) => {
      const server = await startServer(candidate, databaseUrl, flags, mains)
      const profiledLoad = { ports: [server.port], connections, ...workload }
      await load.run({ ...profiledLoad, seconds: WARM_UP_SECONDS })
      const before = cpuTime(server.pid)
      const { requests } = await load.run({ ...profiledLoad, seconds: SECONDS })
      const cpu = (cpuTime(server.pid) - before) / requests
      await server.stop()
      return { cpu, seconds: SECONDS }
    })
    profiles.set(candidate, profile)
  }
  return profiles
}
