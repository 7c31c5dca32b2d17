import { cpuTime } from "./cpuTime.ts"
import type { RequestSource } from "./loadGenerator.ts"
import type { LoadGenerator } from "./startLoadGenerator.ts"
import { CANDIDATES, type CandidateName, type Server } from "./startServer.ts"

/** The requests that both candidates serve. */
export type Workload = RequestSource & { readonly name: string }

/** The performance of one candidate in one round. */
export interface Performance {
  readonly perSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  /** CPU microseconds of the server's processes for each request. */
  readonly cpu: number
  /** CPU microseconds of PostgreSQL for each request. */
  readonly databaseCpu: number
}

/** The performance of both candidates in one round, measured right after one another. */
export type Round = Readonly<Record<CandidateName, Performance>>

export interface Bench {
  readonly servers: Readonly<Record<CandidateName, readonly Server[]>>
  readonly load: LoadGenerator
  /** The parent process of the database's connections. */
  readonly postmaster: number
  readonly connections: number
}

/** Measures both candidates with the same workload. The rounds alternate, so that a temporary slowdown of the machine affects both. */
export async function measureRounds(
  bench: Bench,
  workload: Workload,
  options: { readonly processes: number; readonly rounds: number; readonly seconds: number },
): Promise<readonly Round[]> {
  const rounds: Round[] = []
  for (let round = 0; round < options.rounds; round++) {
    const measured: Partial<Record<CandidateName, Performance>> = {}
    for (const candidate of round % 2 === 0 ? CANDIDATES : CANDIDATES.toReversed()) {
      measured[candidate] = await measure(bench, candidate, workload, options)
    }
    rounds.push(measured as Round)
  }
  return rounds
}

/** Measures one candidate for some seconds. */
async function measure(
  { servers, load, postmaster, connections }: Bench,
  candidate: CandidateName,
  { name: _, ...workload }: Workload,
  { processes, seconds }: { readonly processes: number; readonly seconds: number },
): Promise<Performance> {
  const measured = servers[candidate].slice(0, processes)
  const serverCpu = () => measured.reduce((sum, { pid }) => sum + cpuTime(pid), 0)
  const before = { cpu: serverCpu(), databaseCpu: cpuTime(postmaster) }
  const { requests, elapsed, p50, p99 } = await load.run({
    ports: measured.map(({ port }) => port),
    connections,
    seconds,
    ...workload,
  })
  return {
    perSecond: requests / elapsed,
    p50,
    p99,
    cpu: (serverCpu() - before.cpu) / requests,
    databaseCpu: (cpuTime(postmaster) - before.databaseCpu) / requests,
  }
}
