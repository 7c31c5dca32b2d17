import { ReplayJobQueue } from "@outreach/postgres/deliveries/ReplayJobQueue"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { printWhenEnded } from "../deadLetters/followReplay.ts"
import { commaSeparated } from "../inputs/commaSeparated.ts"
import { detach } from "../inputs/detach.ts"
import { identifier } from "../inputs/identifier.ts"
import { instant } from "../inputs/instant.ts"
import { outboundEventTypes } from "../inputs/outboundEventTypes.ts"
import { pickDefined } from "../inputs/pickDefined.ts"
import { replayRate } from "../inputs/replayRate.ts"
import { formatCount } from "../output/format.ts"
import { print } from "../output/Output.ts"

/** `ops endpoints replay` */
export const replayLog = Command.make(
  "replay",
  {
    endpoint: Argument.String("endpoint").pipe(
      Argument.withDescription("The endpoint's id, whe_…"),
      Argument.filterMap(...identifier("endpoint")),
    ),
    from: instant("from").pipe(
      Flag.withDescription("Events published at this time or later, such as 2026-12-01T09:00:00Z"),
    ),
    to: instant("to").pipe(
      Flag.withDescription("Events published before this time; events published after this command are never sent"),
    ),
    types: Flag.String("types").pipe(
      Flag.withDescription("The event types to send, separated by commas (default those that the endpoint receives)"),
      Flag.filterMap(...commaSeparated(outboundEventTypes)),
      Flag.optional,
    ),
    rate: replayRate,
    dryRun: Flag.Boolean("dry-run").pipe(Flag.withDescription("Only count them"), Flag.withDefault(false)),
    detach,
  },
  Effect.fn("ops.endpoints.replay")(function* ({ endpoint, from, to, types, rate, dryRun, detach }) {
    const replayJobs = yield* ReplayJobQueue
    const range = { endpointId: endpoint, from, to, ...pickDefined({ eventTypes: types }) }
    if (dryRun) {
      const count = yield* replayJobs.countInLog(range)
      return yield* print({ count }, () => `${formatCount(count, "event")} would be sent.`)
    }
    const job = yield* replayJobs.createOfLog(range, rate)
    yield* printWhenEnded(job, { detach, sentence: `Sending ${formatCount(job.total, "event")} as ${job.id}.` })
  }),
).pipe(
  Command.withDescription(
    "Send the events of a period to an endpoint again, delivered or not, after all its other deliveries",
  ),
  Command.withExamples([
    { command: "ops endpoints replay whe_… --from 2026-12-01T09:00:00Z --to 2026-12-01T17:00:00Z --dry-run" },
    { command: "ops endpoints replay whe_… --from 2026-12-01T09:00:00Z --to 2026-12-01T17:00:00Z --rate 20" },
  ]),
)
