import { activeAlerts } from "@outreach/domain/operators/alerts"
import { type Finding, failed } from "@outreach/domain/operators/Finding"
import { DatabaseInspection } from "@outreach/postgres/DatabaseInspection"
import { AlertReader } from "@outreach/postgres/inspection/AlertReader"
import {
  clockFinding,
  connectionFinding,
  partitionsFinding,
  roleFinding,
  schemaFinding,
} from "@outreach/postgres/inspection/databaseFindings"
import { SystemReader } from "@outreach/postgres/inspection/SystemReader"
import { Cause, Effect } from "effect"

/** What the page shows of the deployment; a part that could not be read is undefined. */
export type System = Effect.Success<typeof readSystem>

/** Reads the state of the deployment. What one part cannot tell, because it failed or took too long, keeps the others from nothing. */
export const readSystem = Effect.gen(function* () {
  const { readLoad, readServer } = yield* DatabaseInspection
  const { readProcesses, readSchema, readTables, readPartitions, readSettings } = yield* SystemReader
  const { read: readAlerts } = yield* AlertReader
  const [alerts, findings, load, server, processes, schema, tables, partitions, settings] = yield* Effect.all(
    [
      orUndefined(Effect.map(readAlerts, activeAlerts)),
      Effect.all([
        checked("database", connectionFinding),
        checked("schema", schemaFinding),
        checked("role", roleFinding),
        checked("clock", clockFinding),
        checked("partitions", partitionsFinding),
      ]),
      ...([
        orUndefined(readLoad),
        orUndefined(readServer),
        orUndefined(readProcesses),
        orUndefined(readSchema),
        orUndefined(readTables),
        orUndefined(readPartitions),
        orUndefined(readSettings),
      ] as const),
    ],
    { concurrency: 3 },
  )
  return { alerts, findings, load, server, processes, schema, tables, partitions, settings }
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
