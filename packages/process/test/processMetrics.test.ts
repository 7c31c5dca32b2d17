import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { measureProcess } from "../src/processMetrics.ts"

it("counts each garbage collection by kind, from zero, so that a rate includes the first", async () => {
  const read = await Effect.runPromise(measureProcess)
  const counts = async () => {
    const found = (await Effect.runPromise(read)).matchAll(/^nodejs_gc_duration_seconds_count\{kind="(\w+)"\} (\d+)$/gm)
    return Object.fromEntries([...found].map(([, kind, count]) => [kind, Number(count)]))
  }
  const before = await counts()
  expect(Object.keys(before)).toEqual(["major", "minor", "incremental", "weakcb"])
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc")
  // Both are reported together.
  collect()
  collect()
  const major = async () => (await counts())["major"]
  await expect.poll(major, { timeout: 100_000 }).toBeGreaterThanOrEqual(before["major"]! + 2)
})

it("shows the memory, CPU time and open files of the process as Prometheus text", async () => {
  const text = await Effect.runPromise(Effect.flatten(measureProcess))
  expect(text).toMatch(/^(# HELP (\w+) .+\n# TYPE \2 (counter|gauge|summary)\n(\2\S* [\d.e-]+\n)+)+$/)
  const shown = (name: string) => Number(new RegExp(`^${name} (.+)$`, "m").exec(text)?.[1])
  const { rss, heapUsed } = process.memoryUsage()
  expect(shown("process_resident_memory_bytes") / rss).toBeCloseTo(1, 0)
  expect(shown("nodejs_heap_size_used_bytes") / heapUsed).toBeCloseTo(1, 0)
  expect(shown("process_start_time_seconds")).toBeLessThan(Date.now() / 1000)
  expect(shown("process_cpu_seconds_total")).toBeGreaterThan(0)
  expect(shown("process_open_fds")).toBeGreaterThan(3)
  expect(shown("process_open_fds")).toBeLessThan(shown("process_max_fds"))
})
