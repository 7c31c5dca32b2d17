import {
  Campaign,
  CampaignProgress,
  type CampaignStatus,
  CampaignSummary,
  COMPLAINT_THRESHOLDS,
  MIN_COMPLAINTS,
  QuarantinedMessage,
  TRANSITIONS,
  WORKER_TRANSITIONS,
} from "@outreach/domain/campaigns/Campaign"
import {
  CampaignNotFound,
  CampaignNotInStatus,
  CampaignRepository,
  PausedCampaign,
} from "@outreach/domain/campaigns/CampaignRepository"
import { ChangedMeanwhile } from "@outreach/domain/DescribedError"
import type { CampaignId, OrganizationId } from "@outreach/domain/Identifier"
import { Program } from "@outreach/domain/programs/Program"
import { ProgramNotFound } from "@outreach/domain/programs/Programs"
import { Recipient } from "@outreach/domain/recipients/Recipient"
import { Effect, Record, Struct } from "effect"
import { adapter } from "../adapter.ts"
import { Hints } from "../events/Hints.ts"
import { assigned, columnOf, decodeColumn, first, firstOr, only, rowsOf, toTable } from "../rowsOf.ts"
import { countMessages, MESSAGE_STATE } from "./campaignChanges.ts"
import { openAndComplete } from "./openAndComplete.ts"

const { publish } = WORKER_TRANSITIONS

const { columns, decode } = rowsOf(Campaign)
const summary = rowsOf(CampaignSummary)
const program = rowsOf(Program)
const recipient = rowsOf(Recipient)
const keys = rowsOf(CampaignSummary.mapFields(Struct.pick(["organizationId", "id"])))
const decodeStatuses = decodeColumn(Struct.pick(Campaign.fields, ["status"]))
const locked = rowsOf(Campaign.mapFields(Struct.pick(["organizationId", "programId", "status"])))
const counts = Record.map(CampaignProgress.fields, (_, count) => `${columnOf(count)}::int`)
const progress = rowsOf(CampaignProgress, counts)
const paused = rowsOf(PausedCampaign, {
  campaignId: "campaign.id",
  sent: "chosen.sent::int",
  complained: "chosen.complained::int",
})
const quarantined = rowsOf(QuarantinedMessage, {
  class: "failure_class",
  code: "failure_code",
  token: "recipient.token",
})

export const CampaignRepositoryPg = adapter(CampaignRepository, function* (sql) {
  const hints = yield* Hints

  // Not decoded, because every token request reads it.
  const summaries = Effect.fnUntraced(function* (
    organizationId: OrganizationId,
    campaignIds: ReadonlyArray<CampaignId>,
  ) {
    const rows = yield* sql`
        select ${summary.columnsOf("campaign")}, ${program.columnsOf("program")}
        from campaigns campaign
        join programs program on program.organization_id = campaign.organization_id and program.id = campaign.program_id
        where campaign.organization_id = ${organizationId} and campaign.id = any (${campaignIds}::text[])`.values
    const length = Object.keys(CampaignSummary.fields).length
    return new Map(
      rows.map((values) => {
        const campaign = summary.fromValues(values)
        return [campaign.id, { campaign, program: program.fromValues(values.slice(length)) }]
      }),
    )
  })

  /** Fails with the reason why a campaign wasn't changed. */
  const unchanged = Effect.fnUntraced(function* (campaignId: CampaignId, wanted: ReadonlyArray<CampaignStatus>) {
    const status = yield* sql`select status from campaigns where id = ${campaignId}`.pipe(
      decodeStatuses,
      firstOr(CampaignNotFound, { campaignId }),
    )
    return yield* wanted.includes(status)
      ? new ChangedMeanwhile({ id: campaignId })
      : new CampaignNotInStatus({ campaignId, status, wanted })
  })

  return {
    summaries,

    create: (campaign) =>
      sql`
          insert into campaigns
            (organization_id, id, program_id, name, kind, subject, preheader, html, text, short_link, fields, per_minute, window_start,
            window_end, pause_on_complaints)
          select organization_id, ${campaign.id}, id, ${campaign.name}, ${campaign.kind}, ${campaign.subject}, ${campaign.preheader},
            ${campaign.html}, ${campaign.text}, ${campaign.shortLink}, ${campaign.fields}::text[], ${campaign.perMinute}::int,
            ${campaign.windowStart}::timestamptz, ${campaign.windowEnd}::timestamptz, ${campaign.pauseOnComplaints}::boolean
          from programs where id = ${campaign.programId}
          returning ${columns}`.pipe(decode, firstOr(ProgramNotFound, { programId: campaign.programId })),

    find: (campaignId) =>
      sql`select ${columns} from campaigns where id = ${campaignId}`.pipe(
        decode,
        firstOr(CampaignNotFound, { campaignId }),
      ),

    // A send updates the recipient's row, so the index by update time finds the sends of the last minute. The statement's clock is constant,
    // so the planner can estimate how few they are.
    progress: (campaignId) =>
      sql`
          select ${progress.columns}
          from campaigns campaign cross join lateral campaign_totals(campaign.organization_id, campaign.id)
          cross join lateral (
            select count(*) as sent_in_last_minute from recipients
            where organization_id = campaign.organization_id and campaign_id = campaign.id
              and updated_at > statement_timestamp() - interval '1 minute' and sent_at > statement_timestamp() - interval '1 minute'
          ) minute
          where campaign.id = ${campaignId}`.pipe(progress.decode, only),

    quarantined: (campaignId) =>
      sql`
          select ${quarantined.columns} from messages message
          join campaigns campaign on campaign.organization_id = message.organization_id and campaign.id = message.campaign_id
          join recipients recipient on recipient.organization_id = message.organization_id and recipient.id = message.recipient_id
          where campaign.id = ${campaignId} and quarantined_at is not null
          order by quarantined_at, recipient_id limit 100`.pipe(quarantined.decode),

    lockForImport: (campaignId) =>
      sql`select ${locked.columns} from campaigns where id = ${campaignId} for share`.pipe(
        locked.decode,
        firstOr(CampaignNotFound, { campaignId }),
      ),

    move: Effect.fnUntraced(function* (campaignId, from, to, { stop, editedAt } = {}) {
      const isScheduling = to === TRANSITIONS.resume.to
      const moved = yield* sql`
          update campaigns set status = ${to}, updated_at = clock_timestamp(),
            stopped_at = case when ${stop !== undefined}::boolean then clock_timestamp() end,
            stopped_by = ${stop?.stoppedBy ?? null}::text, stop_reason = ${stop?.stopReason ?? null}::text,
            complaints_accepted = case when ${isScheduling}::boolean then (select complained::int from campaign_totals(organization_id, id))
              else complaints_accepted end
          where id = ${campaignId} and status = any (${from}::text[])
            and edited_at = coalesce(${editedAt ?? null}::timestamptz, edited_at) returning ${columns}`.pipe(decode)
      yield* hints.give("campaigns")
      return moved[0] ?? (yield* unchanged(campaignId, from))
    }),

    update: Effect.fnUntraced(function* ({ id, editedAt }, statuses, { fields, windowStart, windowEnd, ...changes }) {
      const isTestedAgain = changes.html !== undefined || changes.name !== undefined
      const rows = yield* sql`
          update campaigns set ${assigned({ ...changes, ...(isTestedAgain && { testedAt: null }) })}
            fields = coalesce(${fields ?? null}::text[], fields),
            window_start = coalesce(${windowStart ?? null}::timestamptz, window_start),
            window_end = coalesce(${windowEnd ?? null}::timestamptz, window_end),
            edited_at = clock_timestamp(), updated_at = clock_timestamp()
          where id = ${id} and status = any (${statuses}::text[]) and edited_at = ${editedAt}::timestamptz
          returning ${columns}`.pipe(decode)
      yield* hints.give("campaigns")
      return rows[0] ?? (yield* unchanged(id, statuses))
    }),

    markTested: ({ id, editedAt }) =>
      Effect.asVoid(sql`
          update campaigns set tested_at = clock_timestamp() where id = ${id} and edited_at = ${editedAt}::timestamptz`),

    // A complaint that commits between the read and the lock is found by the next check.
    pauseOnComplaints: sql`
        with chosen as materialized (
          select organization_id, id, sent, complained
          from campaigns campaign cross join lateral campaign_totals(organization_id, id)
          where status = any (${TRANSITIONS.pause.from}::text[]) and pause_on_complaints
            and complained > complaints_accepted and complained >= ${MIN_COMPLAINTS}::int
            and complained::float8 / nullif(sent, 0) >= ${COMPLAINT_THRESHOLDS.upper}::float8
          for update of campaign skip locked
        )
        update campaigns campaign
        set status = ${TRANSITIONS.pause.to}, updated_at = clock_timestamp(), stopped_at = clock_timestamp(), stopped_by = 'a worker',
          stop_reason = format('%s of the %s who were sent it reported it as unwanted', chosen.complained, chosen.sent)
        from chosen where campaign.organization_id = chosen.organization_id and campaign.id = chosen.id
        returning ${paused.columns}`.pipe(paused.decode),

    lockNext: (except) =>
      sql`
          select ${keys.columns} from campaigns
          where status = any (${publish.from}::text[]) and id <> all (${except}::text[])
          order by window_start > clock_timestamp(), updated_at, id limit 1 for update skip locked`.pipe(
        keys.decode,
        first,
      ),

    lockChunk: Effect.fnUntraced(function* ({ organizationId, id }, limit) {
      const recipients = yield* sql`
          select ${recipient.columns} from recipients
          where organization_id = ${organizationId} and campaign_id = ${id} and published_at is null and withdrawn_at is null
          order by published_at, id limit ${limit} for update`.values
      return {
        ...(yield* summaries(organizationId, [id])).get(id)!,
        recipients: recipients.map(recipient.fromValues),
      }
    }),

    queue: Effect.fnUntraced(function* ({ organizationId, id, windowStart }, recipients, status) {
      yield* sql`
          update campaigns set status = ${status}, updated_at = clock_timestamp()
          where organization_id = ${organizationId} and id = ${id}`
      yield* hints.give("campaigns")
      if (recipients.length === 0) return
      yield* sql`
          with queued as (
            insert into messages as message (organization_id, recipient_id, campaign_id, due_at)
            select ${organizationId}, given.id, ${id}, ${windowStart}::timestamptz from ${toTable("given", recipients, { id: "text" })}
            returning 1 as sign, ${MESSAGE_STATE}
          ) ${countMessages("select * from queued")}`
      yield* hints.give("messages", organizationId)
    }),

    openAndComplete: openAndComplete(sql, hints),
  }
})
