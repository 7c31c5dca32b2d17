import type { ImportId } from "@outreach/domain/Identifier"
import type { ProgressBar, ProgressLine } from "@outreach/process/progress"
import { Context, Effect, type Scope } from "effect"

/** Shows nothing. */
export const hiddenProgress = {
  say: () => Effect.void,
  line: Effect.succeed({ show: () => Effect.void }),
  bar: () => Effect.succeed({ advance: () => Effect.void }),
}

/** Follows a long task, such as the import of a file. Default: shows nothing. */
export class TaskProgress extends Context.Reference<{
  readonly say: (text: string) => Effect.Effect<void>
  /** Reports a fault that the result contains, also if the progress is hidden. */
  readonly warn: (text: string) => Effect.Effect<void>
  readonly line: Effect.Effect<ProgressLine, never, Scope.Scope>
  readonly bar: (label: string, total: number) => Effect.Effect<ProgressBar, never, Scope.Scope>
  /** Receives the id of the record of an import of recipients. */
  readonly begin?: (id: ImportId) => Effect.Effect<unknown>
}>("backoffice/TaskProgress", {
  defaultValue: () => ({ warn: () => Effect.void, ...hiddenProgress }),
}) {}
