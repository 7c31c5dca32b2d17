import type { Stage } from "./startStage.ts"

/** A process of the service, by the name of its unit. */
export type Unit = "api" | "worker" | "console"

/** A sign of a fault that an on-call person sees. */
export type Signal =
  /** An alert of `deploy/alerts.yml`, which a real Prometheus evaluates on what it scrapes. */
  | { readonly alert: string }
  /** Part of the response of `/readyz` on the admin port of a process. */
  | { readonly readyz: string; readonly of: Unit }
  /** Part of a line that a process logs or prints on standard error. */
  | { readonly log: string; readonly of: Unit }
  /** A counter that grows, on a dashboard. */
  | { readonly metric: string; readonly of: Unit }
  /** Part of the output of `ops doctor`, or of `command`. */
  | { readonly prints: string; readonly command?: string }

export interface Fault {
  /** The name for `FAULTS`. */
  readonly name: string
  /** The description on the page. */
  readonly fault: string
  readonly signals: readonly [Signal, ...ReadonlyArray<Signal>]
  /** An action of somebody else, such as the partner. The page shows it before the commands. */
  readonly outside?: string
  /** The commands of the on-call person, as on the page. The run executes them in a shell. */
  readonly remedy: ReadonlyArray<string>
  /** Breaks it. Returns the repair by others, which runs before the remedy. */
  readonly break: (stage: Stage) => Promise<(() => Promise<void>) | void>
  /** Why it cannot be broken on this machine; undefined if it can. */
  readonly lacks?: (stage: Stage) => string | undefined
  /** Makes further checks after the recovery. */
  readonly after?: (stage: Stage) => Promise<void>
}

/** Faults that run one after another on the same servers and processes. */
export interface Group {
  readonly name: string
  readonly faults: ReadonlyArray<Fault>
}
