import type { Stage } from "./startStage.ts"
import type { Unit } from "./startUnits.ts"

/** A sign of a fault that an on-call person sees. */
export type Signal =
  /** An alert of `deploy/kubernetes/alerts.yaml`, evaluated by a real Prometheus on real scrapes. */
  | { readonly alert: string }
  /** Part of the `/readyz` response on a process's admin port. */
  | { readonly readyz: string; readonly of: Unit }
  /** Part of a line in a process's log or on standard error. */
  | { readonly log: string; readonly of: Unit }
  /** An increasing counter on a dashboard. */
  | { readonly metric: string; readonly of: Unit }
  /** Part of the output of `ops doctor`, or of `command`. */
  | { readonly prints: string; readonly command?: string }

export interface Fault {
  /** Name in `FAULTS`. */
  readonly name: string
  /** Description on the page. */
  readonly fault: string
  readonly signals: readonly [Signal, ...ReadonlyArray<Signal>]
  /** An action of another person, such as the partner. The page shows it before the commands. */
  readonly outside?: string
  /** The on-call person's commands on the page. The run executes them in a shell. */
  readonly remedy: ReadonlyArray<string>
  /** Breaks the service. Returns the repair by other people, which runs before the remedy. */
  readonly break: (stage: Stage) => Promise<(() => Promise<void>) | void>
  /** Reason why the fault can't be simulated on this machine; undefined if it can. */
  readonly lacks?: (stage: Stage) => string | undefined
  /** Further checks after the recovery. */
  readonly after?: (stage: Stage) => Promise<void>
}
