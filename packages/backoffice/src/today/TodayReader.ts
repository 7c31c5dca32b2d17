import type { CampaignId, OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { orDieAs } from "@outreach/postgres/DatabaseFailure"
import { SAMPLE_MINUTES } from "@outreach/postgres/today/GaugeSamples"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** What an operator looks at first, of the deployment or of one organization. */
export interface Today {
  readonly sending: {
    /** The campaigns that send, and whose window is open. */
    readonly campaigns: number
    readonly sentInLastMinute: number
    /** The e-mails that they have left to send; null without campaigns. */
    readonly remaining: number | null
  }
  /** For how long the oldest delivery to an endpoint that works has been due; 0 if none is. */
  readonly oldestDueSeconds: number
  /** The enabled endpoints whose breaker is open. */
  readonly breakersOpen: number
  /** Those that were not replayed. */
  readonly deadLetters: number
  readonly inboxQuarantined: number
  /** The recipient domains that some campaign leaves alone because they refuse it. */
  readonly domainsRefusing: number
  /** The workers that are alive; null for one organization. */
  readonly workers: number | null
  /** The target that is nearest: the largest share of those that are not reached, or else of those that are; null without targets. */
  readonly quota: QuotaProgress | null
}

/** How far a program is towards one of its targets. */
export interface QuotaProgress {
  readonly organizationId: OrganizationId
  readonly programId: ProgramId
  readonly program: string
  readonly stage: "learner" | "completer"
  readonly count: number
  readonly target: number
}

/** A recipient domain that a campaign leaves alone because it refuses the campaign's e-mails. */
export interface RefusingDomain {
  readonly domain: string
  readonly campaignId: CampaignId
  readonly campaign: string
  /** The SMTP status of the refusal, such as `5.7.1`. */
  readonly status: string
  readonly until: Timestamp
}

/** How many refusing domains are listed. */
export const MAX_REFUSING_DOMAINS = 20

/** The gauges of five minutes; null while nobody took a sample, because no worker ran. */
export interface GaugeSample {
  readonly at: Timestamp
  readonly sent: number | null
  readonly oldestDueSeconds: number | null
  readonly breakersOpen: number | null
  readonly deadLetters: number | null
  readonly inboxQuarantined: number | null
  readonly domainsRefusing: number | null
}

/** Reads what an operator looks at first; each reading is one statement, and no table is counted. */
export class TodayReader extends Context.Service<TodayReader>()("backoffice/today/TodayReader", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return {
      /** Reads the deployment, or one organization. */
      read: Effect.fn("TodayReader.read")(function* (organizationId: OrganizationId | null) {
        const rows = yield* sql<{ today: Today }>`
          with quota as (
            select program.organization_id, program.id, program.name, stage.*
            from programs program
            left join lateral (
              select * from digest_funnel
              where organization_id = program.organization_id and program_id = program.id order by date desc limit 1
            ) funnel on true
            cross join lateral (values
              ('learner', learner_target, coalesce(learner_qualified_total, 0)),
              ('completer', completer_target, coalesce(completer_qualified_total, 0))
            ) stage (stage, target, count)
            where target is not null and status <> 'archived'
              and (${organizationId}::text is null or program.organization_id = ${organizationId})
            order by count >= target, count::double precision / target desc, program.id, stage limit 1
          )
          select jsonb_build_object(
            'sending', (
              select jsonb_build_object('sentInLastMinute', gauges.sent, 'campaigns', count(*), 'remaining',
                sum(recipients - withdrawn - quarantined - answered))
              from campaigns cross join lateral campaign_totals(campaigns.organization_id, id)
              where status = 'sending' and window_start <= statement_timestamp() and window_end > statement_timestamp()
                and (${organizationId}::text is null or campaigns.organization_id = ${organizationId})),
            'oldestDueSeconds', coalesce(greatest(0, extract(epoch from statement_timestamp() - oldest_due_at)), 0),
            'breakersOpen', breakers_open, 'deadLetters', dead_letters, 'inboxQuarantined', inbox_quarantined,
            'domainsRefusing', domains_refusing,
            'workers', case when ${organizationId}::text is null then (
              select count(*) from delivery_workers where alive_until > statement_timestamp() and not stopping) end,
            'quota', (select jsonb_build_object('organizationId', quota.organization_id, 'programId', id, 'program', name,
              'stage', stage, 'count', count, 'target', target) from quota)
          ) as today
          from read_gauges(${organizationId}, statement_timestamp() - interval '1 minute') gauges
          where gauges.organization_id = ''`
        return rows[0]!.today
      }, orDieAs("TodayReader.read")),

      /** Reads how many there were at the end of each of the last 30 days on which somebody was counted, oldest first. */
      readQuotaDays: Effect.fn("TodayReader.readQuotaDays")(function* ({
        organizationId,
        programId,
        stage,
      }: QuotaProgress) {
        return yield* sql<{ date: Timestamp; count: number }>`
          select date::timestamp at time zone 'UTC' as date,
            case ${stage}::text when 'learner' then learner_qualified_total else completer_qualified_total end as count
          from digest_funnel
          where organization_id = ${organizationId} and program_id = ${programId} and date > current_date - 30
          order by date`
      }, orDieAs("TodayReader.readQuotaDays")),

      /** Lists domains that refuse campaigns, those that were refused last first; at most `MAX_REFUSING_DOMAINS`. */
      readRefusingDomains: Effect.fn("TodayReader.readRefusingDomains")(function* (
        organizationId: OrganizationId | null,
      ) {
        return yield* sql<RefusingDomain>`
          select domain, campaign_id as "campaignId", name as campaign, pause.status, until
          from domain_pauses pause join campaigns on campaigns.organization_id = pause.organization_id and campaigns.id = campaign_id
          where until > statement_timestamp() and (${organizationId}::text is null or pause.organization_id = ${organizationId})
          order by paused_at desc, domain limit ${MAX_REFUSING_DOMAINS}`
      }, orDieAs("TodayReader.readRefusingDomains")),

      /** Reads the samples of the last 24 hours, oldest first, one for every five minutes. */
      readHistory: Effect.fn("TodayReader.readHistory")(function* (organizationId: OrganizationId | null) {
        return yield* sql<GaugeSample>`
          with step as (select make_interval(mins => ${SAMPLE_MINUTES}::int) as size),
          newest as (select date_bin(size, statement_timestamp(), 'epoch') as at from step),
          own as (
            select * from gauge_samples
            where organization_id = ${organizationId ?? ""} and sampled_at > statement_timestamp() - interval '1 day'
          )
          select each.at, case when taken then coalesce(sent, 0) end as sent,
            case when taken then coalesce(oldest_due_seconds, 0) end as "oldestDueSeconds",
            case when taken then coalesce(breakers_open, 0) end as "breakersOpen",
            case when taken then coalesce(dead_letters, 0) end as "deadLetters",
            case when taken then coalesce(inbox_quarantined, 0) end as "inboxQuarantined",
            case when taken then coalesce(domains_refusing, 0) end as "domainsRefusing"
          from step cross join newest
          cross join lateral generate_series(newest.at - interval '1 day' + size, newest.at, size) each (at)
          cross join lateral (
            select exists (select from gauge_samples where organization_id = '' and sampled_at = each.at) as taken
          ) sample
          left join own on own.sampled_at = each.at
          order by each.at`
      }, orDieAs("TodayReader.readHistory")),
    }
  }),
}) {
  static readonly layer = Layer.effect(TodayReader, TodayReader.make)
}
