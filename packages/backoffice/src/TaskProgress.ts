import type { ImportId } from "@outreach/domain/Identifier"
import type { ProgressBar } from "@outreach/process/progress"
import { Context, Effect, type Scope } from "effect"

/** Follows a long task, such as the import of a file. Default: shows nothing. */
export class TaskProgress extends Context.Reference<{
  readonly say: (text: string) => Effect.Effect<void>
  readonly bar: (label: string, total: number) => Effect.Effect<ProgressBar, never, Scope.Scope>
  /** Receives the id of the record of an import of recipients. */
  readonly begin?: (id: ImportId) => Effect.Effect<unknown>
}>("backoffice/TaskProgress", {
  defaultValue: () => ({ say: () => Effect.void, bar: () => Effect.succeed({ advance: () => Effect.void }) }),
}) {}
