import { commaSeparated } from "@outreach/domain/commaSeparated"
import { outboundEventTypes } from "@outreach/domain/events/outboundEventTypes"
import { EndpointId } from "@outreach/domain/Identifier"
import { ReplayJobQueue } from "@outreach/postgres/deliveries/ReplayJobQueue"
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { changing } from "../audit/Access.ts"
import { printWhenEnded } from "../deadLetters/followReplay.ts"
import { parsedArgument, parsedFlag, switchFlag } from "../inputs/parsedInput.ts"
import { pickDefined } from "../inputs/pickDefined.ts"
import { detach, replayRate } from "../inputs/replayFlags.ts"
import { instant } from "../inputs/times.ts"
import { formatCount } from "../output/format.ts"
import { noteKeptFrom } from "../output/noteKeptFrom.ts"
import { print } from "../output/Output.ts"

/** `ops endpoints replay` */
export const replayLog = changing(
  "replay",
  {
    endpoint: parsedArgument("endpoint", EndpointId, "The endpoint's id, whe_…"),
    from: instant("from", "Events published at this time or later, such as 2026-12-01T09:00:00Z"),
    to: instant("to", "Events published before this time; events published after this command are never sent"),
    types: parsedFlag(
      "types",
      commaSeparated(outboundEventTypes),
      "The event types to send, separated by commas (default those that the endpoint receives)",
    ).pipe(Flag.optional),
    rate: replayRate,
    dryRun: switchFlag("dry-run", "Only count them"),
    detach,
  },
  Effect.fn("ops.endpoints.replay")(function* ({ endpoint, from, to, types, rate, dryRun, detach }) {
    const replayJobs = yield* ReplayJobQueue
    const range = { endpointId: endpoint, from, to, ...pickDefined({ eventTypes: types }) }
    yield* noteKeptFrom(from)
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
