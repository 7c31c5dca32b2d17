import { Effect } from "effect"

/** Something that happens again and again in a process. What waits for it may have begun before it happened. */
export class Signal {
  /** How often it happened. */
  count = 0
  private readonly waiting = new Set<() => void>()

  raise(): void {
    this.count++
    const waiting = [...this.waiting]
    this.waiting.clear()
    for (const resume of waiting) resume()
  }

  /** Waits until it has happened more often than `count`. */
  after(count: number): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const wake = () => resume(Effect.void)
      if (this.count > count) return wake()
      this.waiting.add(wake)
      return Effect.sync(() => this.waiting.delete(wake))
    })
  }
}
