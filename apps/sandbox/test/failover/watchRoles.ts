import { setTimeout } from "node:timers/promises"

interface Success {
  readonly begun: number
  readonly ended: number
}

/** Notes when each role of the service did its work, so that it can be told for how long it did not. */
export const watchRoles = () => {
  const successes = new Map<string, Array<Success>>()
  const failures = new Map<string, number>()
  const waits = new Map<string, number>()

  return {
    /** Notes that a request ended that began at `begun`, however it ended. */
    waited: (what: string, begun: number) => waits.set(what, Math.max(waits.get(what) ?? 0, performance.now() - begun)),
    /** Returns the most milliseconds that a request took, by kind. */
    waits,
    /** Notes that a role has done something that began at `begun`. */
    did: (role: string, begun: number, ended = performance.now()) => {
      const before = successes.get(role) ?? []
      before.push({ begun, ended })
      successes.set(role, before)
    },
    /** Notes that a role failed, and how. */
    failed: (role: string, how: string) => {
      const key = `${role}: ${how}`
      failures.set(key, (failures.get(key) ?? 0) + 1)
    },
    failures,
    roles: () => [...successes.keys()].sort(),
    /** Returns the moment at which a role had done again what it began at `since` or later. */
    backAt: (role: string, since: number): number | undefined =>
      successes.get(role)?.find(({ begun }) => begun >= since)?.ended,
    /** Returns the most milliseconds that one success of a role took between two moments. */
    longest: (role: string, from: number, to: number): number =>
      Math.max(
        0,
        ...(successes.get(role) ?? [])
          .filter(({ begun, ended }) => ended >= from && begun <= to)
          .map(({ begun, ended }) => ended - begun),
      ),
  }
}

/** The roles that a run watches. */
export type Roles = ReturnType<typeof watchRoles>

/**
 * Reads the metrics of a worker again and again until `over`. A claim of endpoints shows that the worker reaches the
 * database, and a notification that is heard shows that its listening connection is alive.
 */
export const watchWorker = async (name: string, adminPort: number, roles: Roles, over: AbortSignal): Promise<void> => {
  const last = new Map<string, number>()
  let lastRead = performance.now()
  const counters = {
    [`${name} claims`]: /^outreach_delivery_claims_total\{.*result="succeeded".*\} (\d+)/m,
    [`${name} listens`]: /^outreach_hints_heard_total(?:\{.*\})? (\d+)/m,
  }
  while (!over.aborted) {
    const begun = performance.now()
    const text = await fetch(`http://127.0.0.1:${adminPort}/metrics`, { signal: AbortSignal.timeout(5000) }).then(
      (response) => response.text(),
      () => "",
    )
    for (const [role, counter] of Object.entries(counters)) {
      const count = Number(counter.exec(text)?.[1] ?? 0)
      if (count > (last.get(role) ?? 0)) roles.did(role, lastRead)
      last.set(role, Math.max(count, last.get(role) ?? 0))
    }
    lastRead = begun
    await setTimeout(200, undefined, { signal: over }).catch(() => {})
  }
}
