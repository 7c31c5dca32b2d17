import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { reading } from "../audit/Access.ts"
import { switchFlag, wholeNumberFlag } from "../inputs/parsedInput.ts"
import { Output, print } from "../output/Output.ts"

/** Loads what the help does not need. */
const load = Effect.promise(async () => ({
  ...(await import("../status/readStatus.ts")),
  ...(await import("../status/formatStatus.ts")),
  ...(await import("../status/statusServices.ts")),
}))

/** `ops status` */
export const status = reading(
  "status",
  {
    watch: switchFlag(
      "watch",
      "Show it again and again until Ctrl-C: in place on a terminal, with --json as a line for each reading; once without either",
    ).pipe(Flag.withoutNegation),
    interval: wholeNumberFlag(
      "interval",
      1,
      3600,
      "Seconds between two readings of --watch, 1 to 3600 (default 2)",
    ).pipe(Flag.withDefault(2)),
  },
  Effect.fn("ops.status")(function* ({ watch, interval }) {
    const { json } = yield* Output
    if (watch && (json || process.stdout.isTTY)) {
      const { watchStatus } = yield* Effect.promise(() => import("../status/watchStatus.ts"))
      return yield* watchStatus({ seconds: interval, terminal: process.stdout })
    }
    const { readStatus, formatStatus, statusServices } = yield* load
    const status = yield* Effect.provide(readStatus, statusServices)
    yield* print(status, () => formatStatus(status).join("\n"))
  }),
).pipe(
  Command.withDescription(
    "Show how the database, the workers, the endpoints, the queues and the campaigns stand, on one screen",
  ),
  Command.withExamples([{ command: "ops status" }, { command: "ops status --watch --interval 5" }]),
)
