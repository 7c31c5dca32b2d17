import type { ImportId } from "@outreach/domain/Identifier"
import type { ProgressBar } from "@outreach/process/progress"
import { Context, Effect, type Scope } from "effect"

/** Follows a file's import, or the reading of a long list. Default: shows nothing. */
export class ImportProgress extends Context.Reference<{
  readonly say: (text: string) => Effect.Effect<void>
  readonly bar: (label: string, total: number) => Effect.Effect<ProgressBar, never, Scope.Scope>
  /** Receives the id of the record of an import of recipients. */
  readonly begin?: (id: ImportId) => Effect.Effect<unknown>
}>("backoffice/csv/ImportProgress", {
  defaultValue: () => ({ say: () => Effect.void, bar: () => Effect.succeed({ advance: () => Effect.void }) }),
}) {}
