import { decideService } from "@outreach/domain/restores/Restore"
import { RestoreRepository } from "@outreach/domain/restores/RestoreRepository"
import {
  acceptPromotion,
  beginRestore,
  findUnderWay,
  finishRestore,
  markMailed,
} from "@outreach/domain/restores/Restores"
import { Seconds } from "@outreach/domain/Seconds"
import { RestoreRepositoryPg } from "@outreach/postgres/restores/RestoreRepositoryPg"
import { TransactionPg } from "@outreach/postgres/TransactionPg"
import { ClockSkew } from "@outreach/postgres-connection/ClockSkew"
import { Effect, Layer, Option, Schema, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { changing, reading } from "../audit/Access.ts"
import { parsedFlag, switchFlag } from "../inputs/parsedInput.ts"
import { instant } from "../inputs/times.ts"
import { confirm, yes } from "../output/confirm.ts"
import { formatCount } from "../output/format.ts"
import { formatRecord, print, printRecord } from "../output/Output.ts"
import { readMailLog } from "../restore/readMailLog.ts"
import { formatReport, restoreReport } from "../restore/restoreReport.ts"

/** `--promoted` ends no restore, so nothing is resumed with it. */
class PromotedAlone extends Schema.TaggedError<PromotedAlone>()("PromotedAlone", {}) {
  override get message(): string {
    return "--promoted is for a database that lost nothing; it does not go with --resume-campaigns."
  }
}

/** How many recipients share a transaction, which holds the clock of their organization. */
const BATCH_SIZE = 500

const printReport = Effect.fnUntraced(function* (restore: Parameters<typeof restoreReport>[0]) {
  const report = yield* restoreReport(restore)
  yield* print(report, () => formatReport(report))
})

const begin = changing(
  "begin",
  {
    restoredTo: instant("restored-to", "The point to which the database was restored, such as 2026-12-01T03:10:00Z"),
    margin: parsedFlag(
      "margin",
      Seconds,
      "How far the clocks are moved beyond the present (default CLOCK_SKEW_SECONDS, 60s); more if the clock of the lost server was ahead by more",
    ).pipe(Flag.optional),
  },
  Effect.fn("ops.restore.begin")(function* ({ restoredTo, margin }) {
    const { seconds } = yield* ClockSkew
    const marginSeconds = Option.getOrElse(margin, () => seconds)
    yield* printReport(yield* beginRestore(restoredTo, marginSeconds))
  }),
).pipe(
  Command.withDescription(
    "Begin the work after a restore, before any process is started: nothing is sent, the clocks move on, and campaigns that may have sent are paused",
  ),
  Command.withExamples([{ command: "ops restore begin --restored-to 2026-12-01T03:10:00Z" }]),
)

const mailed = changing(
  "mailed",
  {
    log: Flag.String("log").pipe(
      Flag.withMetavar("file"),
      Flag.withDescription("The log of the mail server (Postfix, Exim), or a list of Message-IDs, one a line"),
    ),
  },
  Effect.fn("ops.restore.mailed")(function* ({ log }) {
    const { id } = yield* findUnderWay
    const total = { marked: 0, known: 0, missing: 0 }
    yield* readMailLog(log).pipe(
      Stream.grouped(BATCH_SIZE),
      Stream.runForEach(
        Effect.fnUntraced(function* (ids) {
          const { marked, known, missing } = yield* markMailed(ids)
          total.marked += marked
          total.known += known
          total.missing += missing
        }),
      ),
    )
    yield* (yield* RestoreRepository).noteMailLog(id)
    yield* printRecord(total)
  }),
).pipe(
  Command.withDescription(
    "Mark the recipients as sent whose Message-IDs the log of the mail server names. May be run again, also with other logs",
  ),
)

const status = reading(
  "status",
  {},
  Effect.fn("ops.restore.status")(function* () {
    const restores = yield* RestoreRepository
    const latest = yield* restores.latest
    const standing = yield* restores.standing
    const workers = { workers: decideService(standing, 0) === "wait" ? "paused" : "running", ...standing }
    const report = latest && (yield* restoreReport(latest))
    yield* print({ ...workers, latest: report ?? null }, () =>
      [formatRecord(workers), report === undefined ? "There was no restore." : formatReport(report)].join("\n\n"),
    )
  }),
).pipe(
  Command.withDescription(
    "Show whether the workers may send, and what the last restore changed, with the text for each partner",
  ),
)

const finish = changing(
  "finish",
  {
    resumeCampaigns: switchFlag(
      "resume-campaigns",
      "Resume the campaigns that the restore paused; the logs given to `mailed` must be complete",
    ),
    promoted: switchFlag("promoted", "Let the workers go on after a failover, an upgrade or a move that lost nothing"),
    yes,
  },
  Effect.fn("ops.restore.finish")(function* (input) {
    if (input.promoted) {
      if (input.resumeCampaigns) return yield* new PromotedAlone()
      yield* confirm(
        "let the workers send from a database that was promoted or moved, and that has lost nothing",
        input,
      )
      return yield* printRecord(yield* acceptPromotion())
    }
    const underWay = yield* findUnderWay
    const paused = (yield* (yield* RestoreRepository).campaigns(underWay.id)).filter(
      ({ status }) => status === "paused",
    )
    const unsent = paused.reduce((sum, campaign) => sum + campaign.unsent, 0)
    const campaigns = `${formatCount(paused.length, "campaign")} with ${formatCount(unsent, "recipient")} without their e-mail`
    yield* confirm(
      `let the workers send again, and ${input.resumeCampaigns ? "resume" : "leave"} ${campaigns}${input.resumeCampaigns ? "" : " paused"}`,
      { yes: input.yes, count: unsent },
    )
    yield* printReport(yield* finishRestore(input.resumeCampaigns ? "resume campaigns" : "leave campaigns paused"))
  }),
).pipe(
  Command.withDescription(
    "Let the workers send again, and print what each partner must do. Asks first, or needs --yes",
  ),
)

/** `ops restore …` */
export const restore = Command.make("restore").pipe(
  Command.withDescription("What to do after the database was restored to a point in the past"),
  Command.withSubcommands([begin, mailed, status, finish]),
  Command.provide(Layer.mergeAll(RestoreRepositoryPg, TransactionPg)),
)
