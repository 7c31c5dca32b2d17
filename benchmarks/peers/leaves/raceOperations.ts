import { median } from "../../median.ts"

/**
 * Measures operations in rounds, each starting with a different operation; the first round warms up the compiler.
 *
 * @returns for each operation the number per second of CPU time, and how many times as fast the first one is, with the range of the rounds
 */
export async function raceOperations(
  operations: readonly ((() => unknown) | undefined)[],
  { rounds, milliseconds }: { readonly rounds: number; readonly milliseconds: number },
): Promise<readonly string[]> {
  const measured = operations.map(() => [] as number[])
  for (let round = -1; round < rounds; round++) {
    for (let turn = 0; turn < operations.length; turn++) {
      const index = (turn + round + 1) % operations.length
      const operation = operations[index]
      if (operation === undefined) continue
      const perSecond = await measure(operation, milliseconds)
      if (round >= 0) measured[index]!.push(perSecond)
    }
  }
  const ours = measured[0]!
  return measured.map((results, index) => {
    if (results.length === 0) return "–"
    const perSecond = Number(median(results).toPrecision(3)).toLocaleString("en")
    if (index === 0) return perSecond
    const ratios = results.map((it, round) => ours[round]! / it)
    return `${perSecond} (ours × ${median(ratios).toFixed(2)}, ${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`
  })
}

async function measure(operation: () => unknown, milliseconds: number): Promise<number> {
  const asynchronous = operation() instanceof Promise
  const started = performance.now()
  const before = process.cpuUsage()
  let count = 0
  // The clock is read only after every hundred operations, because a read costs a part of a short operation.
  do {
    if (asynchronous) for (let i = 0; i < 100; i++) await operation()
    else for (let i = 0; i < 100; i++) operation()
    count += 100
  } while (performance.now() - started < milliseconds)
  const { user, system } = process.cpuUsage(before)
  return (count * 1e6) / (user + system)
}
