import { cpuTime } from "./cpuTime.ts"
import type { Asked } from "./loadGenerator.ts"
import type { LoadGenerator } from "./startLoadGenerator.ts"
import { type Server, SIDES, type Side } from "./startServer.ts"

/** What is asked of both sides in the same way. */
export type Question = Asked & { readonly name: string }

/** What one side did in one round. */
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

/** What both did right after one another. */
export type Round = Readonly<Record<Side, Performance>>

export interface Bench {
  readonly servers: Readonly<Record<Side, readonly Server[]>>
  readonly load: LoadGenerator
  /** The process whose children are the database's connections. */
  readonly postmaster: number
  readonly connections: number
}

/** Asks both sides the same, in rounds that alternate, so that what slows the machine for a while slows both. */
export async function measureRounds(
  bench: Bench,
  question: Question,
  options: { readonly processes: number; readonly rounds: number; readonly seconds: number },
): Promise<readonly Round[]> {
  const rounds: Round[] = []
  for (let round = 0; round < options.rounds; round++) {
    const measured: Partial<Record<Side, Performance>> = {}
    for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
      measured[side] = await measure(bench, side, question, options)
    }
    rounds.push(measured as Round)
  }
  return rounds
}

/** Asks one side for some seconds. */
async function measure(
  { servers, load, postmaster, connections }: Bench,
  side: Side,
  { name: _, ...question }: Question,
  { processes, seconds }: { readonly processes: number; readonly seconds: number },
): Promise<Performance> {
  const asked = servers[side].slice(0, processes)
  const serverCpu = () => asked.reduce((sum, { pid }) => sum + cpuTime(pid), 0)
  const before = { cpu: serverCpu(), databaseCpu: cpuTime(postmaster) }
  const { requests, elapsed, p50, p99 } = await load.run({
    ports: asked.map(({ port }) => port),
    connections,
    seconds,
    ...question,
  })
  return {
    perSecond: requests / elapsed,
    p50,
    p99,
    cpu: (serverCpu() - before.cpu) / requests,
    databaseCpu: (cpuTime(postmaster) - before.databaseCpu) / requests,
  }
}
