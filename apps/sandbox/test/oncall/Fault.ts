import type { Stage } from "./startStage.ts"

/** A process of the service, by the name of its unit. */
export type Unit = "api" | "worker" | "console"

/** What an on-call person sees of a fault. */
export type Signal =
  /** An alert of `deploy/alerts.yml`, which a real Prometheus evaluates on what it scrapes. */
  | { readonly alert: string }
  /** What `/readyz` of the admin port of a process says: its code, or its words. */
  | { readonly readyz: string; readonly of: Unit }
  /** Words of a line that a process logs, or prints on standard error. */
  | { readonly log: string; readonly of: Unit }
  /** A counter that grows, on a dashboard. */
  | { readonly metric: string; readonly of: Unit }
  /** Words that `ops doctor` prints, or another command of an operator. */
  | { readonly prints: string; readonly command?: string }

export interface Fault {
  /** The name for `FAULTS`. */
  readonly name: string
  /** The fault in a few words, as the page has it. */
  readonly fault: string
  readonly signals: readonly [Signal, ...ReadonlyArray<Signal>]
  /** What somebody else does, such as the partner, or what happens by itself; the page has it before the commands. */
  readonly outside?: string
  /** The commands that the on-call person types. The run has a shell type them, as they stand here and on the page. */
  readonly remedy: ReadonlyArray<string>
  /** Breaks it. Returns what the others do whom the fault concerns, before the remedy is typed. */
  readonly break: (stage: Stage) => Promise<(() => Promise<void>) | void>
  /** Why it cannot be broken on this machine; undefined if it can. */
  readonly lacks?: (stage: Stage) => string | undefined
  /** Checks what else holds once all is well. */
  readonly after?: (stage: Stage) => Promise<void>
}

/** Faults that are broken one after another, on servers and processes of their own. */
export interface Group {
  readonly name: string
  readonly faults: ReadonlyArray<Fault>
}
