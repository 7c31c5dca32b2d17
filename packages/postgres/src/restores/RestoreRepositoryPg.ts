import type { Deployment } from "@outreach/domain/Deployment"
import type { OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import type { Recipient } from "@outreach/domain/recipients/Recipient"
import type {
  DatabaseStanding,
  Restore,
  RestoredCampaign,
  RestoredEndpoint,
  RestoredOrganization,
} from "@outreach/domain/restores/Restore"
import { RestoreRepository } from "@outreach/domain/restores/RestoreRepository"
import type { ClockSkew } from "@outreach/postgres-connection/ClockSkew"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { countMessages, countRecipients, MESSAGE_STATE, RECIPIENT_STATE } from "../campaigns/campaignChanges.ts"
import { orDieAs } from "../DatabaseFailure.ts"
import { commitTimestamp } from "../events/commitTimestamp.ts"
import type { Hints } from "../events/Hints.ts"
import { publishEvents } from "../events/publishEvents.ts"
import { recipientColumns } from "../recipients/recipientRows.ts"

/** Keeps restores in PostgreSQL. */
export const RestoreRepositoryPg = Layer.effect(
  RestoreRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const context = yield* Effect.context<SqlClient.SqlClient | ClockSkew | Deployment | Hints>()
    const columns = sql.literal(`
      id, restored_to as "restoredTo", last_transaction_at as "lastTransactionAt", begun_at as "begunAt",
      mail_log_read_at as "mailLogReadAt", finished_at as "finishedAt"`)

    return {
      latest: sql<Restore>`select ${columns} from restores order by begun_at desc limit 1`.pipe(
        Effect.map((rows) => rows[0]),
        orDieAs("RestoreRepository.latest"),
      ),

      create: (id, restoredTo) =>
        sql<Restore>`
          insert into restores (id, restored_to, last_transaction_at)
          values (${id}, ${restoredTo}::timestamptz, pg_last_xact_replay_timestamp())
          on conflict do nothing returning ${columns}`.pipe(
          Effect.map((rows) => rows[0]),
          orDieAs("RestoreRepository.create"),
        ),

      fenceClocks: (id, marginSeconds) =>
        sql`
          with before as materialized (
            select organization_id, last, greatest(clock_timestamp(), last) + make_interval(secs => ${marginSeconds}::double precision) as fence
            from organization_clock order by organization_id for update
          ), fenced as (
            update organization_clock clock set last = fence, fenced_at = fence,
              server_started_at = pg_postmaster_start_time(), identity = (select note_timeline())
            from before where clock.organization_id = before.organization_id
            returning clock.organization_id, clock.last
          )
          insert into restored_clocks (organization_id, restore_id, restored_at, fenced_at)
          select organization_id, ${id}, before.last, fenced.last from before join fenced using (organization_id)`.pipe(
          orDieAs("RestoreRepository.fenceClocks"),
        ),

      pauseCampaigns: (id, statuses) =>
        sql`
          with found as materialized (
            select campaign.organization_id, campaign.id, status
            from campaigns campaign join restored_clocks clock using (organization_id)
            where restore_id = ${id} and status = any (${statuses}::text[]) and window_start <= fenced_at
            for update of campaign
          ), paused as (
            update campaigns campaign set status = 'paused', updated_at = clock_timestamp()
            from found where campaign.organization_id = found.organization_id and campaign.id = found.id
          )
          insert into restored_campaigns (organization_id, campaign_id, restore_id, status)
          select organization_id, id, ${id}, status from found`.pipe(orDieAs("RestoreRepository.pauseCampaigns")),

      campaigns: (id) =>
        sql<RestoredCampaign>`
          select organization_id as "organizationId", campaign.id, name, paused.status as "statusBefore", campaign.status, (
              select count(*)::int from recipients recipient
              where recipient.organization_id = campaign.organization_id and recipient.campaign_id = campaign.id
                and sent_at is null and bounced_at is null and withdrawn_at is null
            ) as unsent
          from restored_campaigns paused join campaigns campaign using (organization_id)
          where restore_id = ${id} and campaign.id = campaign_id
          order by campaign.id`.pipe(orDieAs("RestoreRepository.campaigns")),

      organizations: Effect.fnUntraced(function* (id) {
        const organizations = yield* sql<Omit<RestoredOrganization, "endpoints">>`
          select id, name, restored_at as "restoredAt", fenced_at as "fencedAt"
          from restored_clocks join organizations on id = organization_id
          where restore_id = ${id} order by id`
        const endpoints = yield* sql<RestoredEndpoint & { organizationId: OrganizationId }>`
          select endpoint.id, endpoint.organization_id as "organizationId", shown_url(url) as url, least(begun_at, restored_at) as "repeatsFrom"
          from webhook_endpoints endpoint join restored_clocks using (organization_id)
          cross join lateral reader_position(endpoint.id) position
          where restore_id = ${id} and enabled order by endpoint.id`
        return organizations.map((organization) => ({
          ...organization,
          endpoints: endpoints
            .filter(({ organizationId }) => organizationId === organization.id)
            .map(({ organizationId: _, ...endpoint }) => endpoint),
        }))
      }, orDieAs("RestoreRepository.organizations")),

      // A Message-ID has no room for the organization: the key of each is probed.
      findRecipients: (ids) =>
        sql<Recipient>`
          select recipient.* from organizations organization
          cross join lateral (
            select ${recipientColumns} from recipients
            where organization_id = organization.id and id = any (${ids}::text[])
          ) recipient`.pipe(orDieAs("RestoreRepository.findRecipients")),

      lockUnsent: (organizationId, ids) =>
        sql<{ id: RecipientId }>`
          select id from recipients
          where organization_id = ${organizationId} and id = any (${ids}::text[]) and sent_at is null and bounced_at is null
          order by id for update`.pipe(
          Effect.map((rows) => rows.map(({ id }) => id)),
          orDieAs("RestoreRepository.lockUnsent"),
        ),

      storeMailed: Effect.fnUntraced(
        function* (organizationId, events) {
          const ids = events.map(({ recipientId }) => recipientId!)
          yield* sql`
            with gone as (
              delete from messages message where organization_id = ${organizationId} and recipient_id = any (${ids}::text[])
              returning -1 as sign, ${MESSAGE_STATE}
            ) ${countMessages("select * from gone")}`
          const at = yield* commitTimestamp(organizationId)
          // A recipient who was published after the point must not be published, and queued, again.
          yield* sql`
            with changed as (
              update recipients recipient set published_at = coalesce(published_at, ${at}::timestamptz), sent_at = ${at}::timestamptz,
                last_event_at = ${at}::timestamptz, updated_at = ${at}::timestamptz
              where organization_id = ${organizationId} and id = any (${ids}::text[])
              returning ${RECIPIENT_STATE}
            ) ${countRecipients("changed")}`
          yield* publishEvents(events, at)
        },
        Effect.provideContext(context),
        orDieAs("RestoreRepository.storeMailed"),
      ),

      noteMailLog: (id) =>
        sql`update restores set mail_log_read_at = clock_timestamp() where id = ${id}`.pipe(
          orDieAs("RestoreRepository.noteMailLog"),
        ),

      resumeCampaigns: (id) =>
        sql`
          update campaigns campaign set status = paused.status, updated_at = clock_timestamp()
          from restored_campaigns paused
          where paused.organization_id = campaign.organization_id and paused.campaign_id = campaign.id
            and paused.restore_id = ${id} and campaign.status = 'paused'`.pipe(
          orDieAs("RestoreRepository.resumeCampaigns"),
        ),

      finish: (id) =>
        sql`update restores set finished_at = clock_timestamp() where id = ${id}`.pipe(
          orDieAs("RestoreRepository.finish"),
        ),

      standing: sql<DatabaseStanding>`
        select restore_fault() as fault, identity as recorded, current_identity() as current,
          extract(epoch from clock_timestamp() - seen_at)::double precision as "unseenSeconds",
          extract(epoch from clock_timestamp())::double precision * 1000 as now
        from (select) one left join database_identity on true`.pipe(
        Effect.map((rows) => rows[0]!),
        orDieAs("RestoreRepository.standing"),
      ),

      record: (identity) =>
        sql`
          insert into database_identity (identity) select ${identity} where note_timeline() = ${identity}
          on conflict (is_only) do update set identity = excluded.identity, seen_at = excluded.seen_at`.pipe(
          orDieAs("RestoreRepository.record"),
        ),

      see: sql`
        update database_identity set seen_at = clock_timestamp() where identity = current_identity()`.pipe(
        orDieAs("RestoreRepository.see"),
      ),
    }
  }),
)
