import { migrations } from "@outreach/postgres/migrate"
import { runMigrations } from "@outreach/postgres/runMigrations"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { print, remark } from "../output/Output.ts"

/** `ops migrate` */
export const migrate = Command.make(
  "migrate",
  {},
  Effect.fn("ops.migrate")(function* () {
    const applied = (yield* runMigrations(migrations, { report: remark })).map(([id, name]) => ({ id, name }))
    yield* print({ applied }, () =>
      applied.length === 0
        ? "The schema was up to date."
        : applied.map(({ id, name }) => `Applied ${String(id).padStart(4, "0")} ${name}.`).join("\n"),
    )
  }),
).pipe(Command.withDescription("Bring the database to the newest schema"))
