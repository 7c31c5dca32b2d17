import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import postgres from "postgres"
import { cpuTime } from "../cpuTime.ts"
import type { Candidate } from "./Candidate.ts"
import { createPublications } from "./createPublications.ts"
import type { Receiver } from "./startReceiver.ts"

/** A candidate's performance with a backlog. */
export interface Backlog {
  readonly perSecond: number
  /** CPU microseconds per delivery of the candidate's process, and of PostgreSQL. */
  readonly cpu: number
  readonly databaseCpu: number
  /** The peak memory of the process, in MiB. */
  readonly memory: number
  readonly seconds: number
}

/** Milliseconds from publication to arrival, and CPU milliseconds for one event of the process and of PostgreSQL. */
export interface Latency {
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly cpu: number
  readonly databaseCpu: number
}

/** What a killed process costs: repeated deliveries, and seconds from the start of its successor to its first call. */
export interface Restart {
  readonly repeats: number
  readonly seconds: number
}

export interface Bench {
  readonly databaseUrl: string
  readonly postmaster: number
  readonly receiver: Receiver
  readonly endpoints: number
  /** Node flags for the candidate's process. */
  readonly flags?: readonly string[]
}

const POLL_MS = 10

/** How long events are published at the measured rate before the measurement starts. */
const WARM_UP_SECONDS = 10

/** Runs some work while a candidate's process runs, and kills the process afterwards; a process with flags may exit on its own to write its profile. */
async function withProcess<A>(
  { main, env = {} }: Pick<Candidate, "main" | "env">,
  { databaseUrl, flags = [] }: Pick<Bench, "databaseUrl" | "flags">,
  work: (child: ChildProcess) => Promise<A>,
): Promise<A> {
  const child = spawn(process.execPath, [...flags, main], {
    env: { PATH: process.env["PATH"], NODE_ENV: "production", DATABASE_URL: databaseUrl, ...env },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  })
  const ended = once(child, "exit")
  try {
    return await work(child)
  } finally {
    if (flags.length > 0) {
      child.disconnect()
      await Promise.race([ended, sleep(1000)])
      child.kill("SIGTERM")
      await Promise.race([ended, sleep(5000)])
    }
    child.kill("SIGKILL")
    await ended
  }
}

/** Measures how a candidate delivers a backlog. The first quarter is the warm-up. */
export async function measureBacklog(bench: Bench, candidate: Candidate, deliveries: number): Promise<Backlog> {
  const { databaseUrl, postmaster, receiver } = bench
  const sql = postgres(databaseUrl, { max: 2, onnotice: () => {} })
  await receiver.reset()
  const publications = createPublications(deliveries, bench.endpoints)
  for (let i = 0; i < deliveries; i += 1000) await candidate.publish(sql, publications.slice(i, i + 1000))
  await sql`vacuum analyze`
  try {
    return await withProcess(candidate, bench, async ({ pid }) => {
      const warm = await arrived(receiver, deliveries / 4)
      const before = [performance.now(), cpuTime(pid!), cpuTime(postmaster)] as const
      await arrived(receiver, deliveries)
      while (!(await candidate.isDone(sql))) await sleep(POLL_MS)
      const rest = deliveries - warm
      return {
        perSecond: (rest * 1000) / (performance.now() - before[0]),
        cpu: (cpuTime(pid!) - before[1]) / rest,
        databaseCpu: (cpuTime(postmaster) - before[2]) / rest,
        memory: peakMemory(pid!),
        seconds: (performance.now() - before[0]) / 1000,
      }
    })
  } finally {
    await sql.end()
  }
}

/** Measures only the HTTP calls, from a process without a database. */
export async function measureCalls(bench: Bench, deliveries: number): Promise<Backlog> {
  const { receiver } = bench
  await receiver.reset()
  const main = fileURLToPath(import.meta.resolve("./undiciLoop.ts"))
  return withProcess({ main }, { ...bench, databaseUrl: "" }, async (child) => {
    const publications = createPublications(deliveries, bench.endpoints)
    child.send({ url: receiver.url, publications })
    const done = once(child, "message")
    const warm = await arrived(receiver, deliveries / 4)
    const before = [performance.now(), cpuTime(child.pid!)] as const
    await done
    const rest = deliveries - warm
    return {
      perSecond: (rest * 1000) / (performance.now() - before[0]),
      cpu: (cpuTime(child.pid!) - before[1]) / rest,
      databaseCpu: 0,
      memory: peakMemory(child.pid!),
      seconds: (performance.now() - before[0]) / 1000,
    }
  })
}

/** Measures the latency of events that are published one by one at a fixed rate. */
export async function measureLatency(
  bench: Bench,
  candidate: Candidate,
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
): Promise<Latency> {
  const { databaseUrl, postmaster, receiver } = bench
  const sql = postgres(databaseUrl, { max: 4, onnotice: () => {} })
  try {
    return await withProcess(candidate, bench, async ({ pid }) => {
      const publish = async (count: number) => {
        await receiver.reset()
        const published: Promise<void>[] = []
        const start = performance.now()
        for (let i = 0; i < count; i++) {
          await sleep(Math.max(0, start + (i * 1000) / perSecond - performance.now()))
          const [publication] = createPublications(1, bench.endpoints)
          published.push(candidate.publish(sql, [{ ...publication!, endpoint: i % bench.endpoints }]))
        }
        await Promise.all(published)
        await arrived(receiver, count)
      }
      // A new process spends its first seconds on compilation, which isn't representative of a deployed process.
      const warmUp = createPublications(2000, bench.endpoints)
      await receiver.reset()
      await candidate.publish(sql, warmUp)
      await arrived(receiver, warmUp.length)
      while (!(await candidate.isDone(sql))) await sleep(POLL_MS)
      await publish(perSecond * WARM_UP_SECONDS)
      const count = perSecond * seconds
      const before = [cpuTime(pid!), cpuTime(postmaster)] as const
      await publish(count)
      const [cpu, databaseCpu] = [cpuTime(pid!) - before[0], cpuTime(postmaster) - before[1]]
      const sorted = (await receiver.latencies()).toSorted((a, b) => a - b)
      const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
      const [p50, p95, p99] = [at(0.5), at(0.95), at(0.99)]
      return { p50, p95, p99, cpu: cpu / count / 1000, databaseCpu: databaseCpu / count / 1000 }
    })
  } finally {
    await sql.end()
  }
}

/** Kills a candidate's process in the middle of a backlog, and starts the next one. */
export async function measureRestart(bench: Bench, candidate: Candidate, deliveries: number): Promise<Restart> {
  const { databaseUrl, receiver } = bench
  const sql = postgres(databaseUrl, { max: 2, onnotice: () => {} })
  await receiver.reset()
  const publications = createPublications(deliveries, bench.endpoints)
  for (let i = 0; i < deliveries; i += 1000) await candidate.publish(sql, publications.slice(i, i + 1000))
  try {
    await withProcess(candidate, bench, () => arrived(receiver, deliveries / 2))
    const before = await receiver.count()
    const start = performance.now()
    return await withProcess(candidate, bench, async () => {
      await arrived(receiver, before + 1)
      const seconds = (performance.now() - start) / 1000
      await arrived(receiver, deliveries)
      while (!(await candidate.isDone(sql))) await sleep(POLL_MS)
      return { repeats: await receiver.repeats(), seconds }
    })
  } finally {
    await sql.end()
  }
}

/** Measures the CPU milliseconds of publishing an event in its own transaction, of this process and of PostgreSQL. */
export async function measurePublication(
  { databaseUrl, postmaster, endpoints }: Bench,
  { publish, openPublisher }: Candidate,
): Promise<Pick<Latency, "cpu" | "databaseCpu">> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  const publisher = await openPublisher?.(databaseUrl)
  const publishOne = publisher?.publish ?? (() => publish(sql, createPublications(1, endpoints)))
  const publishMany = async (count: number) => {
    for (let i = 0; i < count; i++) await publishOne()
  }
  const count = 1000
  await publishMany(count)
  const before = [cpuTime(process.pid), cpuTime(postmaster)] as const
  await publishMany(count)
  const [cpu, databaseCpu] = [cpuTime(process.pid) - before[0], cpuTime(postmaster) - before[1]]
  await publisher?.close()
  await sql.end()
  return { cpu: cpu / count / 1000, databaseCpu: databaseCpu / count / 1000 }
}

const MAX_WAIT_MS = 120_000

async function arrived(receiver: Receiver, count: number): Promise<number> {
  const end = performance.now() + MAX_WAIT_MS
  while (performance.now() < end) {
    const arrivals = await receiver.count()
    if (arrivals >= count) return arrivals
    await sleep(POLL_MS)
  }
  throw new Error(`Only ${await receiver.count()} of ${count} deliveries arrived within ${MAX_WAIT_MS / 1000} s.`)
}

const peakMemory = (pid: number): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024
