import { Effect } from "effect"
import { Command } from "effect/cli"
import { print, remark } from "../output/Output.ts"

/** `ops migrate` */
export const migrate = Command.make(
  "migrate",
  {},
  Effect.fn("ops.migrate")(function* () {
    // Loaded here, because the help does without the migrations.
    const { migrations } = yield* Effect.promise(() => import("@outreach/postgres/migrate"))
    const { runMigrations } = yield* Effect.promise(() => import("@outreach/postgres/runMigrations"))
    const applied = (yield* runMigrations(migrations, { report: remark })).map(([id, name]) => ({ id, name }))
    yield* print({ applied }, () =>
      applied.length === 0
        ? "The schema was up to date."
        : applied.map(({ id, name }) => `Applied ${String(id).padStart(4, "0")} ${name}.`).join("\n"),
    )
  }),
).pipe(Command.withDescription("Bring the database to the newest schema"))
