import { AlertReader } from "@outreach/backoffice/inspection/AlertReader"
import { DatabaseInspection } from "@outreach/backoffice/inspection/DatabaseInspection"
import {
  clockFinding,
  connectionFinding,
  partitionsFinding,
  roleFinding,
  schemaFinding,
} from "@outreach/backoffice/inspection/databaseFindings"
import { SystemReader } from "@outreach/backoffice/inspection/SystemReader"
import { activeAlerts } from "@outreach/domain/operators/alerts"
import { type Finding, failed } from "@outreach/domain/operators/Finding"
import { Cause, Effect } from "effect"

/** What the page shows of the deployment; a part that could not be read is undefined. */
export type System = Effect.Success<typeof readSystem>

/** Reads the state of the deployment. A part that fails, or takes too long, does not keep the others from being shown. */
export const readSystem = Effect.gen(function* () {
  const { readLoad, readServer } = yield* DatabaseInspection
  const { readProcesses, readSchema, readTables, readPartitions, readSettings } = yield* SystemReader
  const { read: readAlerts } = yield* AlertReader
  return yield* Effect.all(
    {
      alerts: orUndefined(Effect.map(readAlerts, activeAlerts)),
      findings: Effect.all([
        checked("database", connectionFinding),
        checked("schema", schemaFinding),
        checked("role", roleFinding),
        checked("clock", clockFinding),
        checked("partitions", partitionsFinding),
      ]),
      load: orUndefined(readLoad),
      server: orUndefined(readServer),
      processes: orUndefined(readProcesses),
      schema: orUndefined(readSchema),
      tables: orUndefined(readTables),
      partitions: orUndefined(readPartitions),
      settings: orUndefined(readSettings),
    },
    { concurrency: 3 },
  )
})

/** A finding of `ops doctor`, by the name of its check there. */
export interface CheckedFinding extends Finding {
  readonly check: string
}

const orUndefined = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.catchCause(effect, (cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.interrupt
      : Effect.as(Effect.logWarning("a part of the system page could not be read"), undefined),
  )

const checked = <E, R>(check: string, finding: Effect.Effect<Finding, E, R>) =>
  Effect.map(
    orUndefined(finding),
    (found): CheckedFinding => ({
      check,
      ...(found ?? failed("The check could not be made.", "Run `ops doctor`, and look at the database's log.")),
    }),
  )
