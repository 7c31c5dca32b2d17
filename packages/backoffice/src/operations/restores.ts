import { DescribedError } from "@outreach/domain/DescribedError"
import type { RecipientId } from "@outreach/domain/Identifier"
import {
  decideService,
  INBOUND_OVERLAP_SECONDS,
  type Restore,
  type RestoredOrganization,
} from "@outreach/domain/restores/Restore"
import {
  acceptPromotion,
  beginRestore,
  findUnderWay,
  finishRestore,
  markMailed,
  RestoreRepository,
} from "@outreach/domain/restores/Restores"
import { fromUnixMillis, Instant, type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { Seconds } from "@outreach/domain/textSchema"
import { DatabaseRoute } from "@outreach/postgres-connection/DatabaseRoute"
import { Effect, FileSystem, Record, Stream } from "effect"
import { formatCounted } from "../format.ts"
import { checkBox, field, file, required } from "./Field.ts"
import { operation, type Part, rowsPart } from "./Operation.ts"

// The left-hand side of this service's Message-IDs is a recipient's id. Postfix writes `message-id=<…>`, Exim `id=…`; a list has one per line.
const MESSAGE_ID = /(?:^|\bmessage-id=|\bid=)\s*<?(rcp_[0-9a-f]{32})@/i

class UnreadableMailLog extends DescribedError(
  "MailLogUnreadable",
  "The log {file} does not exist, or cannot be read.",
) {}

/** Reads the recipients of the messages in a mail server's log without duplicates, in the order of the log. */
const readMailLog = (file: string): Stream.Stream<RecipientId, UnreadableMailLog, FileSystem.FileSystem> =>
  Stream.unwrap(
    Effect.map(FileSystem.FileSystem, ({ stream }) => {
      const seen = new Set<string>()
      return stream(file).pipe(
        Stream.decodeText(),
        Stream.splitLines,
        Stream.map((line) => MESSAGE_ID.exec(line)?.[1]?.toLowerCase()),
        Stream.filter((id): id is RecipientId => id !== undefined && !seen.has(id) && seen.add(id) !== undefined),
        Stream.mapError(() => new UnreadableMailLog({ file })),
      )
    }),
  )

/** Reads the effects of a restore, and each partner's tasks. */
const restoreReport = Effect.fnUntraced(function* (restore: Restore) {
  const restores = yield* RestoreRepository
  const campaigns = yield* restores.campaigns
  const organizations = yield* restores.organizations
  const inbound = inboundPeriod(restore)
  return {
    state: restore.finishedAt === null ? "restoring" : "finished",
    restore,
    campaigns,
    partners: organizations.map((organization) => ({
      ...organization,
      since: organization.restoredAt,
      inboundFrom: inbound.from,
      inboundTo: inbound.to,
      text: partnerText(organization, restore, inbound),
    })),
  }
})

/** The time in which received events may be lost, until the restore is finished. */
const inboundPeriod = ({ restoredTo, lastTransactionAt, finishedAt }: Restore) => {
  const last = lastTransactionAt !== null && lastTransactionAt < restoredTo ? lastTransactionAt : restoredTo
  return { from: fromUnixMillis(toUnixMillis(last) - INBOUND_OVERLAP_SECONDS * 1000), to: finishedAt }
}

const partnerText = (
  { name, restoredAt, fencedAt, endpoints }: RestoredOrganization,
  { restoredTo }: Restore,
  inbound: { readonly from: Timestamp; readonly to: Timestamp | null },
): string =>
  [
    `To ${name}: we have restored our database to ${restoredTo}. Please do the following.`,
    `1. Go on polling from your checkpoint. Nothing new appears at or before ${fencedAt}.`,
    `2. Read the feed and the recipients once from since=${restoredAt}. Events and records that you hold, with an emitted_at or updated_at after that time and not after ${fencedAt}, are gone here. What still holds comes again with a later time, and events with another event_id.`,
    `3. Send us again each webhook that we acknowledged from ${inbound.from} to ${inbound.to ?? "the end of the restore"}. Each event_id is applied once, so you may send more.`,
    ...endpoints.map(
      ({ id, url, repeatsFrom }) =>
        `4. ${url} (${id}) receives again what was published after ${repeatsFrom}, with the same event_id where the event is the same.`,
    ),
  ].join("\n")

type Report = Effect.Success<ReturnType<typeof restoreReport>>

const showReport = ({ restore, state, campaigns, partners }: Report): ReadonlyArray<Part> => [
  { fields: { state, ...restore } },
  rowsPart(
    campaigns,
    ["id", "name", "statusBefore", "status", "unsent"],
    "Campaigns that the restore paused, because they may have sent e-mails after the point:",
  ),
  ...partners.map(({ text }) => text),
]

/** Number of recipients in a transaction, which locks their organization's clock. */
const BATCH_SIZE = 500

export const beginRestoring = operation("restores begin", {
  about:
    "Start the steps after a restore, before any process: pauses sending, moves the clocks ahead, and pauses campaigns that may have sent",
  input: {
    restoredTo: required(
      field(Instant, "The point to which the database was restored", { example: "2026-12-01T03:10:00Z" }),
    ),
    margin: field(
      Seconds,
      "How far to move the clocks ahead (default CLOCK_SKEW_SECONDS, 60s); more if the lost server's clock was further ahead",
    ),
  },
  *run({ restoredTo, margin }) {
    const { clockSkewSeconds } = yield* DatabaseRoute
    return yield* restoreReport(yield* beginRestore(restoredTo, margin ?? clockSkewSeconds))
  },
  show: (report) => showReport(report),
})

export const markSent = operation("restores mark-sent", {
  about:
    "Mark recipients as sent whose Message-IDs are in the mail server's log. Can be repeated with the same or other logs",
  input: {
    log: required(
      file("The log of the mail server (Postfix, Exim), or a list of Message-IDs, one a line", {
        example: "/var/log/mail.log",
      }),
    ),
  },
  *run({ log }) {
    const { id } = yield* findUnderWay
    const total = yield* readMailLog(log).pipe(
      Stream.grouped(BATCH_SIZE),
      Stream.mapEffect(markMailed),
      Stream.runFold(
        () => ({ marked: 0, known: 0, missing: 0 }),
        (total, batch) => Record.map(total, (count, name) => count + batch[name]),
      ),
    )
    yield* RestoreRepository.use(({ noteMailLog }) => noteMailLog(id))
    return total
  },
})

export const showRestores = operation("restores show", {
  access: "reads",
  about: "Show whether the workers may send, and what the last restore changed, with the text for each partner",
  *run() {
    const restores = yield* RestoreRepository
    const latest = yield* restores.latest
    const state = yield* restores.databaseState
    return {
      workers: decideService(state, 0) === "wait" ? "paused" : "running",
      ...state,
      latest: latest === undefined ? null : yield* restoreReport(latest),
    }
  },
  show: ({ latest, ...workers }) => [
    { fields: workers },
    ...(latest === null ? ["There was no restore."] : showReport(latest)),
  ],
})

class PromotedAlone extends DescribedError(
  "PromotedAlone",
  "--promoted is for a database that lost nothing; it does not go with --resume-campaigns.",
) {}

export const finishRestoring = operation("restores finish", {
  about: "Resume the workers, and print a message for each partner",
  isIrreversible: true,
  input: {
    resumeCampaigns: checkBox("Resume the campaigns that the restore paused; requires that `mark-sent` read all logs"),
    promoted: checkBox("Resume the workers after a failover, an upgrade or a move without data loss"),
  },
  *plan({ resumeCampaigns, promoted }) {
    const planned = { title: "Resume the workers", many: "all workers", when: "Immediately." }
    const caution = { because: "They send e-mails and webhooks again." }
    if (promoted) {
      // It finishes no restore, so no campaign is resumed.
      if (resumeCampaigns) return yield* new PromotedAlone()
      const name = "a database that was promoted or moved, and that has lost nothing"
      return { ...planned, affects: { id: "", name }, caution }
    }
    yield* findUnderWay
    const campaigns = yield* RestoreRepository.use(({ campaigns }) => campaigns)
    const paused = campaigns.filter(({ status }) => status === "paused")
    const count = paused.reduce((sum, campaign) => sum + campaign.unsent, 0)
    const named = `${formatCounted(paused.length, "campaign")} with ${formatCounted(count, "recipient")} without their e-mail`
    return {
      ...planned,
      count,
      affects: { id: "", name: "the restored database" },
      facts: { Campaigns: `${named} ${resumeCampaigns ? "resume" : "stay paused"}` },
      caution,
    }
  },
  *run({ resumeCampaigns, promoted }) {
    if (promoted) return yield* acceptPromotion()
    return yield* restoreReport(yield* finishRestore(resumeCampaigns ? "resume campaigns" : "leave campaigns paused"))
  },
  show: (result) => ("partners" in result ? showReport(result) : [{ fields: result }]),
})
