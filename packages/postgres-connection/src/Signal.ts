import { Effect } from "effect"

/** A repeated event in a process. A waiter may have started before the event. */
export class Signal {
  /** Number of occurrences. */
  count = 0
  private readonly waiting = new Set<() => void>()

  raise(): void {
    this.count++
    const waiting = [...this.waiting]
    this.waiting.clear()
    for (const resume of waiting) resume()
  }

  /** Waits until there were more than `count` occurrences. */
  after(count: number): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const wake = () => resume(Effect.void)
      if (this.count > count) return wake()
      this.waiting.add(wake)
      return Effect.sync(() => this.waiting.delete(wake))
    })
  }
}
