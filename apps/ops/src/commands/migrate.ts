import { Effect } from "effect"
import { Command } from "effect/cli"
import { changing } from "../audit/Access.ts"
import { print, printToStderr } from "../output/Output.ts"

/** `ops migrate` */
export const migrate = changing(
  "migrate",
  {},
  Effect.fn("ops.migrate")(function* () {
    // Loaded here, because the help does not need the migrations.
    const { runMigrations } = yield* Effect.promise(() => import("@outreach/postgres/migrations/runMigrations"))
    const applied = yield* runMigrations({ report: printToStderr })
    yield* print({ applied }, () =>
      applied.length === 0 ? "The schema was up to date." : applied.map((file) => `Applied ${file}.`).join("\n"),
    )
  }),
  { createsLog: true },
).pipe(Command.withDescription("Bring the database to the newest schema"))
