import { eventually } from "@outreach/testing/until"

/** Parts of the service, one of each for each process. */
const PARTS = ["reads of API", "writes of API", "claims of worker", "notifications of worker"]

/** Counts successes of each part of the service and of the database, and measures the longest time without one. */
export class Successes {
  readonly #parts = new Map<string, { count: number; lastAt: number; longestMs: number }>()

  constructor(processes: number) {
    for (let n = 1; n <= processes; n++)
      for (const part of PARTS) this.#parts.set(`${part} ${n}`, { count: 0, lastAt: performance.now(), longestMs: 0 })
  }

  add(part: string): void {
    const now = performance.now()
    const { count, lastAt, longestMs } = this.#parts.get(part) ?? { count: 0, lastAt: now, longestMs: 0 }
    this.#parts.set(part, { count: count + 1, lastAt: now, longestMs: Math.max(longestMs, now - lastAt) })
  }

  /** Waits until every part has succeeded again. */
  async again(): Promise<void> {
    const before = [...this.#parts].map(([part, { count }]) => [part, count] as const)
    await eventually(
      () => before.filter(([part, count]) => this.#parts.get(part)!.count === count).map(([part]) => part),
      (waiting) => waiting.length === 0,
    )
  }

  /** Returns the longest times without a success since the last call, in seconds. */
  takeGaps(): Readonly<Record<string, number>> {
    const gaps: Record<string, number> = {}
    for (const [part, success] of this.#parts) {
      gaps[part] = Math.round(success.longestMs / 100) / 10
      success.longestMs = 0
    }
    return gaps
  }
}
