import type { ProgressBar } from "@outreach/process/progress"
import { Context, Effect, type Scope } from "effect"

/** Shows the progress of a file's import to a viewer. Default: none. */
export class ImportProgress extends Context.Reference<{
  readonly say: (text: string) => Effect.Effect<void>
  readonly bar: (label: string, total: number) => Effect.Effect<ProgressBar, never, Scope.Scope>
}>("backoffice/csv/ImportProgress", {
  defaultValue: () => ({ say: () => Effect.void, bar: () => Effect.succeed({ advance: () => Effect.void }) }),
}) {}
