import { RecipientId } from "@outreach/domain/Identifier"
import {
  DatabaseState,
  Restore,
  RestoredCampaign,
  RestoredEndpoint,
  RestoredOrganization,
} from "@outreach/domain/restores/Restore"
import { RestoreRepository } from "@outreach/domain/restores/Restores"
import { Effect } from "effect"
import { adapter } from "../adapter.ts"
import { deleteMessages } from "../campaigns/campaignChanges.ts"
import { Hints } from "../events/Hints.ts"
import { decodeRecipients, recipientColumns } from "../recipients/RecipientRepositoryPg.ts"
import { decodeColumn, first, only, rowsOf } from "../rowsOf.ts"

const { columns, decode } = rowsOf(Restore)
const campaigns = rowsOf(RestoredCampaign, {
  statusBefore: "status_before_restore",
  unsent: `(
    select count(*)::int from recipients recipient
    where recipient.organization_id = campaign.organization_id and recipient.campaign_id = campaign.id
      and sent_at is null and bounced_at is null and withdrawn_at is null
  )`,
})
const endpoints = rowsOf(RestoredEndpoint, { url: "shown_url(url)", repeatsFrom: "least(begun_at, restored_at)" })
const organizations = rowsOf(RestoredOrganization, {
  fencedAt: "restore_fenced_at",
  endpoints: `(
    select coalesce(jsonb_agg(${endpoints.json} order by id), '[]')
    from webhook_endpoints endpoint cross join lateral reader_position(endpoint.id) position
    where endpoint.organization_id = clock.organization_id and enabled)`,
})
const databaseStates = rowsOf(DatabaseState, {
  fault: "restore_fault()",
  recorded: "identity",
  current: "current_identity()",
  unseenSeconds: "extract(epoch from clock_timestamp() - seen_at)::double precision",
  now: "extract(epoch from clock_timestamp())::double precision * 1000",
})
const decodeIds = decodeColumn({ id: RecipientId })

export const RestoreRepositoryPg = adapter(RestoreRepository, function* (sql) {
  const hints = yield* Hints
  return {
    latest: sql`select ${columns} from restores order by begun_at desc limit 1`.pipe(decode, first),

    create: (id, restoredTo) =>
      sql`
        insert into restores (id, restored_to, last_transaction_at)
        values (${id}, ${restoredTo}::timestamptz, pg_last_xact_replay_timestamp())
        on conflict do nothing returning ${columns}`.pipe(decode, first),

    fenceClocks: (marginSeconds) =>
      sql`
        with before as materialized (
          select organization_id, last, greatest(clock_timestamp(), last) + make_interval(secs => ${marginSeconds}::double precision) as fence
          from organization_clock order by organization_id for update
        )
        update organization_clock clock set last = fence, fenced_at = fence, restored_at = before.last, restore_fenced_at = fence,
          server_started_at = pg_postmaster_start_time(), identity = (select note_timeline())
        from before where clock.organization_id = before.organization_id`,

    pauseCampaigns: Effect.fnUntraced(function* (statuses) {
      yield* sql`update campaigns set status_before_restore = null where status_before_restore is not null`
      yield* sql`
        with found as materialized (
          select campaign.organization_id, campaign.id
          from campaigns campaign join organization_clock clock using (organization_id)
          where status = any (${statuses}::text[]) and window_start <= restore_fenced_at
          for update of campaign
        )
        update campaigns campaign set status_before_restore = status, status = 'paused', updated_at = clock_timestamp(),
          stopped_at = clock_timestamp(), stopped_by = null, stop_reason = 'the database was restored from a backup'
        from found where campaign.organization_id = found.organization_id and campaign.id = found.id`
    }),

    campaigns: sql`
      select ${campaigns.columns} from campaigns campaign
      where status_before_restore is not null order by id`.pipe(campaigns.decode),

    organizations: sql`
      select ${organizations.columns} from organization_clock clock join organizations on id = organization_id
      where restored_at is not null order by id`.pipe(organizations.decode),

    // A Message-ID doesn't contain the organization, so the key is probed for each organization.
    findRecipients: (ids) =>
      sql`
        select recipient.* from organizations organization
        cross join lateral (
          select ${recipientColumns} from recipients
          where organization_id = organization.id and id = any (${ids}::text[])
        ) recipient`.pipe(decodeRecipients),

    lockUnsent: Effect.fnUntraced(function* (organizationId, ids) {
      const locked = yield* sql`
        select id from recipients
        where organization_id = ${organizationId} and id = any (${ids}::text[]) and sent_at is null and bounced_at is null
        order by id for update`.pipe(decodeIds)
      yield* sql`
        select from messages where organization_id = ${organizationId} and recipient_id = any (${locked}::text[])
        order by recipient_id for update`
      return locked
    }),

    takeOutMailed: Effect.fnUntraced(function* (organizationId, ids, at) {
      yield* deleteMessages(sql, sql`organization_id = ${organizationId} and recipient_id = any (${ids}::text[])`)
      // A recipient who was published after the restore point must not be published and queued again.
      yield* sql`
        update recipients set published_at = ${at}::timestamptz
        where organization_id = ${organizationId} and id = any (${ids}::text[]) and published_at is null`
    }),

    noteMailLog: (id) => sql`update restores set mail_log_read_at = clock_timestamp() where id = ${id}`,

    resumeCampaigns: sql`
      update campaigns set status = status_before_restore, updated_at = clock_timestamp(), stopped_at = null,
        stopped_by = null, stop_reason = null
      where status_before_restore is not null and status = 'paused'`.pipe(Effect.tap(hints.give("campaigns"))),

    finish: (id) => sql`update restores set finished_at = clock_timestamp() where id = ${id}`,

    databaseState: sql`select ${databaseStates.columns} from clock_watch`.pipe(databaseStates.decode, only),

    record: (identity) =>
      sql`
        update clock_watch set identity = ${identity}, seen_at = clock_timestamp() where note_timeline() = ${identity}`,

    recordLost: (identity) => sql`update clock_watch set identity = ${identity} where identity = current_identity()`,

    see: sql`update clock_watch set seen_at = clock_timestamp() where identity = current_identity()`,
  }
})
