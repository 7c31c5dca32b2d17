import { commaSeparated } from "@outreach/domain/commaSeparated"
import { outboundEventTypes } from "@outreach/domain/events/outboundEventTypes"
import { ReplayJobQueue } from "@outreach/postgres/deliveries/ReplayJobQueue"
import { changing } from "../Declaration.ts"
import { printWhenEnded } from "../deadLetters/followReplay.ts"
import { endpointId } from "../inputs/filters.ts"
import { flag, optional } from "../inputs/Input.ts"
import { replayFlags } from "../inputs/replayFlags.ts"
import { instant } from "../inputs/times.ts"
import { formatCount } from "../output/format.ts"
import { noteKeptFrom } from "../output/noteKeptFrom.ts"
import { print } from "../output/Output.ts"

/** `ops endpoints replay` */
export const replayLog = changing({
  about: "Send the events of a period to an endpoint again, delivered or not, after all its other deliveries",
  examples: [
    "ops endpoints replay whe_… --from 2026-12-01T09:00:00Z --to 2026-12-01T17:00:00Z --dry-run",
    "ops endpoints replay whe_… --from 2026-12-01T09:00:00Z --to 2026-12-01T17:00:00Z --rate 20",
  ],
  input: {
    endpointId,
    from: instant("Events published at this time or later, such as 2026-12-01T09:00:00Z"),
    to: instant("Events published before this time; events published after this command are never sent"),
    types: optional(
      flag(
        commaSeparated(outboundEventTypes),
        "The event types to send, separated by commas (default those that the endpoint receives)",
      ),
    ),
    ...replayFlags,
  },
  *run({ types: eventTypes, rate, dryRun, detach, ...period }) {
    const { countInLog, createOfLog } = yield* ReplayJobQueue
    const range = { ...period, ...(eventTypes && { eventTypes }) }
    yield* noteKeptFrom(range.from)
    if (dryRun) {
      const count = yield* countInLog(range)
      return yield* print({ count }, () => `${formatCount(count, "event")} would be sent.`)
    }
    const job = yield* createOfLog(range, rate)
    yield* printWhenEnded(job, { detach, sentence: `Sending ${formatCount(job.total, "event")} as ${job.id}.` })
  },
})
