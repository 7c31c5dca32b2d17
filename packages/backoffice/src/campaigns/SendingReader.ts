import {
  type CampaignKey,
  CampaignProgress,
  countUnsent,
  TRANSITIONS,
  UNDER_WAY,
} from "@outreach/domain/campaigns/Campaign"
import type { OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { reader } from "@outreach/postgres/adapter"
import { decodeCount, equal, only, rowsOf } from "@outreach/postgres/rowsOf"
import { Effect, Struct } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { formatCount, formatDuration } from "../format.ts"
import { LAST_REPLY } from "../recipients/OutcomeReader.ts"
import { RecipientState, SendingState } from "./explainUnsent.ts"

const MAX_FAILURES = 20
const MAX_PAUSES = 1000

const states = rowsOf(SendingState, {
  progress: rowsOf(CampaignProgress).json,
  workers: "(select count(*)::int from delivery_workers where alive_until > statement_timestamp() and not stopping)",
  restoreFault: "restore_fault()",
  isQuotaReached: "quota_reached(campaign.organization_id, program_id)",
  isRampReached: "exists (select from sender_of(campaign.organization_id, program_id) where slots = 0)",
  dueAt: `(
    select due_at from messages
    where organization_id = campaign.organization_id and campaign_id = campaign.id and due_at < 'infinity'
    order by due_at limit 1)`,
  rateOpensAt: `(
    select max(next_at) from send_rates
    where scope in ('all', 'campaign ' || campaign.id) and next_at > statement_timestamp())`,
  failures: `(
    select coalesce(jsonb_agg(failure), '[]') from (
      select failure_class as class, failure_code as code, count(*) as messages from messages
      where organization_id = campaign.organization_id and campaign_id = campaign.id
        and failure_class is not null and quarantined_at is null
      group by failure_class, failure_code order by messages desc, class, code limit ${MAX_FAILURES}
    ) failure)`,
  pauses: `(
    select coalesce(jsonb_agg(jsonb_build_object('domain', domain, 'status', status, 'until',
        to_char(until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) order by until, domain), '[]') from (
      select domain, pause_status as status, paused_until as until from campaign_domains
      where organization_id = campaign.organization_id and campaign_id = campaign.id and paused_until > statement_timestamp()
      order by paused_until, domain limit ${MAX_PAUSES}
    ) pause)`,
})

const recipientStates = rowsOf(RecipientState, {
  recipientId: "recipient.id",
  campaignId: "recipient.campaign_id",
  refusedLater: `(
    select cause from late_refusals refusal
    where refusal.organization_id = recipient.organization_id and refusal.campaign_id = recipient.campaign_id
      and refusal.recipient_id = recipient.id)`,
  dueAt: "nullif(due_at, 'infinity')",
  failure:
    "case when failure_class is not null then jsonb_build_object('class', failure_class, 'code', failure_code) end",
  pausedUntil: `(
    select paused_until from campaign_domains kept
    where kept.organization_id = recipient.organization_id and kept.campaign_id = recipient.campaign_id
      and domain = lower(split_part(email, '@', -1)) and paused_until > statement_timestamp())`,
  lastReply: LAST_REPLY,
})

/** Reads campaigns with their progress. `rest` continues the statement. */
const read = (sql: SqlClient.SqlClient, condition: Statement.Fragment, rest = sql``) =>
  sql`
    select ${states.columns} from (
      select campaign.*, totals.*, (
        select count(*)::int from recipients
        where organization_id = campaign.organization_id and campaign_id = campaign.id
          and updated_at > statement_timestamp() - interval '1 minute' and sent_at > statement_timestamp() - interval '1 minute'
      ) as sent_in_last_minute
      from campaigns campaign cross join lateral campaign_totals(campaign.organization_id, campaign.id) totals
      where ${condition}
    ) campaign ${rest}`.pipe(states.decode)

/** The progress of a recipient's e-mail, with its campaign. */
export interface RecipientSending extends RecipientState {
  readonly campaign: SendingState
}

/** Reads the reasons why campaigns don't send. */
export const SendingReader = reader("SendingReader", (sql) => ({
  find: ({ organizationId, campaignId }: CampaignKey) =>
    only(read(sql, sql`campaign.organization_id = ${organizationId} and campaign.id = ${campaignId}`)),

  /** Reads the progress of recipients' e-mails with their campaigns, in the order of the ids. */
  ofRecipients: Effect.fnUntraced(function* (organizationId: OrganizationId, ids: ReadonlyArray<RecipientId>) {
    const recipients = yield* sql`
      select ${recipientStates.columns}
      from unnest(${ids}::text[]) with ordinality as wanted (id, place)
      join recipients recipient on recipient.organization_id = ${organizationId} and recipient.id = wanted.id
      left join messages message on message.organization_id = recipient.organization_id and message.recipient_id = recipient.id
      order by place`.pipe(recipientStates.decode)
    const campaignIds = recipients.map(({ campaignId }) => campaignId)
    const isTheirs = sql`campaign.organization_id = ${organizationId} and campaign.id = any (${campaignIds}::text[])`
    const campaigns = yield* read(sql, isTheirs)
    return recipients.flatMap((recipient): ReadonlyArray<RecipientSending> => {
      const campaign = campaigns.find(({ id }) => id === recipient.campaignId)
      return campaign === undefined ? [] : [{ ...recipient, campaign }]
    })
  }),

  /** Counts the campaigns that publish or send, now or later, and lists the newest ones. */
  underWay: Effect.fnUntraced(function* (limit: number) {
    const isUnderWay = sql`status = any (${UNDER_WAY}::text[])`
    const newest = sql`campaign.id in (select id from campaigns where ${isUnderWay} order by id desc limit ${limit})`
    return {
      count: yield* sql`select count(*)::int as count from campaigns where ${isUnderWay}`.pipe(decodeCount),
      newest: yield* read(sql, newest, sql`order by id desc`),
    }
  }),

  /** Lists paused and running campaigns with remaining recipients and an open window: those that sent no e-mail in the last minute first, each newest first. */
  listOpen: (organizationId: OrganizationId | null, limit: number) =>
    read(
      sql,
      sql`campaign.status = any (${["paused", ...TRANSITIONS.pause.from]}::text[])
        and window_start <= statement_timestamp() and window_end > statement_timestamp()
        and recipients > withdrawn + quarantined + answered
        and ${equal({ "campaign.organization_id": organizationId ?? undefined })}`,
      sql`order by sent_in_last_minute > 0, id desc limit ${limit}`,
    ),
}))

const COUNTS = {
  sent: "sent",
  bounced: "bounced",
  refusedLater: "rejected later",
  complained: "complained",
  unsubscribed: "unsubscribed",
  deferred: "deferred",
  unknown: "unknown",
  quarantined: "quarantined",
  withdrawn: "withdrawn",
} as const satisfies Partial<Record<keyof CampaignProgress, string>>

/** Describes a campaign's progress: the share of recipients with an outcome, the recent rate with the time to go, and the counts by outcome. */
export const describeProgress = (progress: CampaignProgress) => {
  const { recipients, withdrawn, quarantined, answered, sentInLastMinute } = progress
  const wanted = recipients - withdrawn - quarantined
  const left = countUnsent(progress)
  const shown = Struct.keys(COUNTS).filter((name) => progress[name] > 0 || name === "sent" || name === "bounced")
  return {
    share: wanted <= 0 ? 0 : Math.min(1, answered / wanted),
    pace: [
      ...(left > 0 ? [`${formatCount(left)} left`] : []),
      ...(sentInLastMinute > 0 ? [`${formatCount(sentInLastMinute)} in the last minute`] : []),
      ...(left > 0 && sentInLastMinute > 0 ? [`about ${formatDuration((left / sentInLastMinute) * 60)} to go`] : []),
    ],
    counts: shown.map((name) => ({ name, text: `${formatCount(progress[name])} ${COUNTS[name]}` })),
  }
}
