import { ChangedMeanwhile } from "@outreach/domain/ChangedMeanwhile"
import { type Campaign, WORKER_TRANSITIONS } from "@outreach/domain/campaigns/Campaign"
import { CampaignNotFound, CampaignNotInStatus } from "@outreach/domain/campaigns/CampaignErrors"
import {
  CampaignRepository,
  type CampaignWithProgram,
  type ListedCampaign,
} from "@outreach/domain/campaigns/CampaignRepository"
import type { FollowUp } from "@outreach/domain/campaigns/FollowUp"
import type { SubjectTestState } from "@outreach/domain/campaigns/SubjectTest"
import type { Deployment } from "@outreach/domain/Deployment"
import type { CampaignId, OrganizationId } from "@outreach/domain/Identifier"
import type { Program } from "@outreach/domain/programs/Program"
import { ProgramNotFound } from "@outreach/domain/programs/ProgramRepository"
import type { Recipient } from "@outreach/domain/recipients/Recipient"
import type { ClockSkew } from "@outreach/postgres-connection/ClockSkew"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"
import { commitTimestamp } from "../events/commitTimestamp.ts"
import { Hints } from "../events/Hints.ts"
import { publishEvents } from "../events/publishEvents.ts"
import { recipientColumns } from "../recipients/recipientRows.ts"
import { countMessages, countRecipients, MESSAGE_STATE, RECIPIENT_STATE } from "./campaignChanges.ts"
import { createProgressReaders } from "./createProgressReaders.ts"
import { IS_SERVED, openAndComplete } from "./openAndComplete.ts"

const { publish } = WORKER_TRANSITIONS

/** Keeps campaigns in PostgreSQL. */
export const CampaignRepositoryPg = Layer.effect(
  CampaignRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const hints = yield* Hints
    const context = yield* Effect.context<SqlClient.SqlClient | ClockSkew | Deployment | Hints>()
    const columnsWithoutBody = `
      organization_id as "organizationId", id, program_id as "programId", name, kind, status, subject,
      short_link as "shortLink", fields, per_minute as "perMinute", hours_from || '-' || hours_to as hours, window_start as "windowStart", window_end as "windowEnd", created_at as "createdAt", updated_at as "updatedAt"`
    const columns = sql.literal(`${columnsWithoutBody}, html, text`)
    const isServed = sql.literal(IS_SERVED)

    const summaries = Effect.fnUntraced(function* (
      organizationId: OrganizationId,
      campaignIds: ReadonlyArray<CampaignId>,
    ) {
      const rows = yield* sql<SummaryRow>`
        select campaign.id, campaign.program_id as "programId", campaign.name, campaign.kind, campaign.status,
          campaign.window_start as "windowStart", campaign.window_end as "windowEnd",
          campaign.created_at as "createdAt", campaign.updated_at as "updatedAt",
          program.slug, program.name as "programName", program.sender_name as "senderName", program.postal_address as "postalAddress", program.status as "programStatus",
          program.learner_target as "learnerTarget", program.completer_target as "completerTarget",
          program.created_at as "programCreatedAt", program.updated_at as "programUpdatedAt"
        from campaigns campaign
        join programs program on program.organization_id = campaign.organization_id and program.id = campaign.program_id
        where campaign.organization_id = ${organizationId} and campaign.id = any (${campaignIds}::text[])`
      return new Map(rows.map((row) => [row.id, toCampaignWithProgram(organizationId, row)]))
    }, orDieAs("CampaignRepository.summaries"))

    return {
      summaries,

      create: Effect.fn("CampaignRepository.create")(function* (campaign) {
        const rows = yield* sql<Campaign>`
          insert into campaigns
            (organization_id, id, program_id, name, kind, subject, html, text, short_link, fields, per_minute, hours_from, hours_to, window_start, window_end)
          select organization_id, ${campaign.id}, id, ${campaign.name}, ${campaign.kind}, ${campaign.subject}, ${campaign.html}, ${campaign.text},
            ${campaign.shortLink}, ${campaign.fields}::text[], ${campaign.perMinute}::int,
            split_part(${campaign.hours}, '-', 1)::smallint, split_part(${campaign.hours}, '-', 2)::smallint,
            ${campaign.windowStart}::timestamptz, ${campaign.windowEnd}::timestamptz
          from programs where id = ${campaign.programId}
          returning ${columns}`
        return rows[0] ?? (yield* new ProgramNotFound({ programId: campaign.programId }))
      }, orDieAs("CampaignRepository.create")),

      find: Effect.fn("CampaignRepository.find")(function* (campaignId) {
        const rows = yield* sql<Campaign>`select ${columns} from campaigns where id = ${campaignId}`
        return rows[0] ?? (yield* new CampaignNotFound({ campaignId }))
      }, orDieAs("CampaignRepository.find")),

      // One range of the primary key for each organization.
      list: Effect.fn("CampaignRepository.list")(
        ({ organizationId, programId, status }, limit) => sql<ListedCampaign>`
          select campaign.* from organizations
          cross join lateral (
            select ${sql.literal(columnsWithoutBody)}, (
              select first_id from follow_ups where organization_id = campaigns.organization_id and campaign_id = campaigns.id
            ) as "followUpOf"
            from campaigns
            where organization_id = organizations.id
              and (${programId ?? null}::text is null or program_id = ${programId ?? null})
              and (${status ?? null}::text is null or status = ${status ?? null})
            order by campaigns.id desc limit ${limit}
          ) campaign
          where ${organizationId ?? null}::text is null or organizations.id = ${organizationId ?? null}
          order by campaign.id desc limit ${limit}`,
        orDieAs("CampaignRepository.list"),
      ),

      ...createProgressReaders(sql),

      lockForImport: Effect.fnUntraced(function* (campaignId) {
        const rows = yield* sql<
          Pick<Campaign, "organizationId" | "programId" | "status"> & { readonly isFollowUp: boolean }
        >`
          select organization_id as "organizationId", program_id as "programId", status, exists (
            select from follow_ups where organization_id = campaign.organization_id and campaign_id = campaign.id
          ) as "isFollowUp"
          from campaigns campaign where id = ${campaignId} for share`
        return rows[0] ?? (yield* new CampaignNotFound({ campaignId }))
      }, orDieAs("CampaignRepository.lockForImport")),

      move: Effect.fn("CampaignRepository.move")(function* (campaignId, from, to) {
        const moved = yield* sql<Campaign>`
          update campaigns set status = ${to}, updated_at = clock_timestamp()
          where id = ${campaignId} and status = any (${from}::text[]) returning ${columns}`
        if (moved[0] !== undefined) return moved[0]
        const rows = yield* sql<Pick<Campaign, "status">>`select status from campaigns where id = ${campaignId}`
        if (rows[0] === undefined) return yield* new CampaignNotFound({ campaignId })
        return yield* new CampaignNotInStatus({ campaignId, status: rows[0].status, wanted: from })
      }, orDieAs("CampaignRepository.move")),

      setRate: Effect.fn("CampaignRepository.setRate")(function* (campaignId, perMinute, expected) {
        const rows = yield* sql<Campaign>`
          update campaigns set per_minute = ${perMinute}::int, updated_at = clock_timestamp()
          where id = ${campaignId} and coalesce(per_minute::text, 'none') = coalesce(${expected ?? null}, per_minute::text, 'none')
          returning ${columns}`
        if (rows[0] !== undefined) return rows[0]
        const known = yield* sql`select from campaigns where id = ${campaignId}`
        return yield* known.length > 0 ? new ChangedMeanwhile({ id: campaignId }) : new CampaignNotFound({ campaignId })
      }, orDieAs("CampaignRepository.setRate")),

      lockNextChunk: Effect.fnUntraced(function* (limit) {
        const campaigns = yield* sql<{ organizationId: OrganizationId; id: CampaignId }>`
          select organization_id as "organizationId", id from campaigns campaign
          where status = any (${publish.from}::text[]) and ${isServed} and not exists (
            select from follow_ups
            where organization_id = campaign.organization_id and campaign_id = campaign.id and drawn_at is null
              and window_start > clock_timestamp() + make_interval(secs => lead_seconds))
          order by window_start > clock_timestamp(), updated_at, id limit 1 for update skip locked`
        const campaign = campaigns[0]
        if (campaign === undefined) return undefined
        const { organizationId, id } = campaign
        const recipients = yield* sql<Recipient>`
          select ${recipientColumns} from recipients
          where organization_id = ${organizationId} and campaign_id = ${id} and published_at is null and withdrawn_at is null
          order by id limit ${limit} for update`
        const tests = yield* sql<Pick<SubjectTestState, "share" | "winner">>`
          select share, winner from subject_tests where organization_id = ${organizationId} and campaign_id = ${id}`
        const followUps = yield* sql<FollowUp>`
          select first_id as "followUpOf", unless, after_seconds as "afterSeconds" from follow_ups
          where organization_id = ${organizationId} and campaign_id = ${id} and drawn_at is null`
        const { campaign: summary, program } = (yield* summaries(organizationId, [id])).get(id)!
        return { campaign: summary, program, recipients, subjectTest: tests[0], followUp: followUps[0] }
      }, orDieAs("CampaignRepository.lockNextChunk")),

      storePublication: Effect.fnUntraced(
        function* ({ campaign: { organizationId, id, windowStart }, recipients }, status, event) {
          yield* sql`
            update campaigns set status = ${status}, updated_at = clock_timestamp()
            where organization_id = ${organizationId} and id = ${id}`
          if (event === undefined) return
          const ids = recipients.map((recipient) => recipient.id)
          yield* sql`
            with given as (
              select given.recipient_id, waits, hours_from, hours_to, time_zones
              from unnest(${ids}::text[], ${recipients.map(({ waits }) => waits)}::bool[]) as given (recipient_id, waits)
              join campaigns campaign on campaign.organization_id = ${organizationId} and campaign.id = ${id}
              -- Only a campaign with hours reads them.
              left join recipient_fields held on held.organization_id = ${organizationId}
                and held.recipient_id = case when hours_from is not null then given.recipient_id end
            ), opening as materialized (
              select time_zones, next_opening(hours_from, hours_to, time_zones, greatest(${windowStart}::timestamptz, clock_timestamp())) as opens_at
              from (select distinct hours_from, hours_to, time_zones from given where time_zones is not null) each
            )
            , queued as (
            insert into messages as message (organization_id, recipient_id, campaign_id, due_at)
            select ${organizationId}, recipient_id, ${id},
              case when waits then 'infinity' else coalesce(opens_at, ${windowStart}::timestamptz) end
            from given left join opening using (time_zones)
            returning 1 as sign, ${MESSAGE_STATE}
            ) ${countMessages("select * from queued")}`
          const at = yield* commitTimestamp(organizationId)
          yield* sql`
            with changed as (
            update recipients recipient
            set published_at = ${at}::timestamptz, updated_at = ${at}::timestamptz, test_subject = nullif(given.test_subject, '')
            from unnest(
              ${ids}::text[], ${recipients.map(({ testSubject }) => testSubject ?? "")}::text[]
            ) as given (id, test_subject)
            where recipient.organization_id = ${organizationId} and recipient.id = given.id
            returning ${RECIPIENT_STATE}
            ) ${countRecipients("changed")}`
          yield* publishEvents([event], at)
          yield* hints.give("messages", organizationId)
        },
        Effect.provideContext(context),
        orDieAs("CampaignRepository.storePublication"),
      ),

      openAndComplete: openAndComplete(sql),
    }
  }),
)

interface SummaryRow
  extends Omit<CampaignWithProgram["campaign"], "organizationId">,
    Pick<Program, "slug" | "senderName" | "postalAddress" | "learnerTarget" | "completerTarget"> {
  readonly programName: Program["name"]
  readonly programStatus: Program["status"]
  readonly programCreatedAt: Program["createdAt"]
  readonly programUpdatedAt: Program["updatedAt"]
}

const toCampaignWithProgram = (organizationId: OrganizationId, row: SummaryRow): CampaignWithProgram => {
  const { slug, senderName, postalAddress, learnerTarget, completerTarget, ...rest } = row
  const { programName, programStatus, programCreatedAt, programUpdatedAt, ...campaign } = rest
  return {
    campaign: { organizationId, ...campaign },
    program: {
      organizationId,
      id: campaign.programId,
      slug,
      name: programName,
      senderName,
      postalAddress,
      status: programStatus,
      learnerTarget,
      completerTarget,
      createdAt: programCreatedAt,
      updatedAt: programUpdatedAt,
    },
  }
}
