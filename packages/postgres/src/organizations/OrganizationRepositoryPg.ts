import { ReplayId } from "@outreach/domain/Identifier"
import { Organization, OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import { OrganizationRepository } from "@outreach/domain/organizations/OrganizationRepository"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Schema } from "effect"
import { adapter } from "../adapter.ts"
import { Hints } from "../events/Hints.ts"
import { decodeColumn, decodeRow, first, firstOr, rowsOf } from "../rowsOf.ts"

const { columns, decode } = rowsOf(Organization)
const decodeOrganization = decodeRow(Organization.fields)
const decodeReplays = decodeColumn({ id: ReplayId })
const decodeFrozen = decodeColumn({ frozenAt: Timestamp })
const decodeTransactions = decodeColumn({ id: Schema.String })

export const OrganizationRepositoryPg = adapter(OrganizationRepository, function* (sql) {
  const hints = yield* Hints

  return {
    create: (id, name) =>
      sql`
          with organization as (
            insert into organizations (id, name) values (${id}, ${name}) returning id, name, contacts, created_at
          ), clock as (
            insert into organization_clock (organization_id, last, server_started_at, identity)
            select id, created_at, pg_postmaster_start_time(), note_timeline() from organization
          )
          select ${columns} from organization`.pipe(decodeOrganization),

    setContacts: (organizationId, contacts) =>
      sql`
          with pending as (
            update endpoint_readers set notice_to = ${contacts}::text[], notice_due_at = clock_timestamp()
            where organization_id = ${organizationId} and notice_to <> '{}'
          )
          update organizations set contacts = ${contacts}::text[] where id = ${organizationId} returning ${columns}`.pipe(
        decode,
        firstOr(OrganizationNotFound, { organizationId }),
      ),

    findReplay: (organizationId) =>
      sql`
          select id from replay_jobs where finished_at is null and cancelled_at is null and (
            endpoint_id is null or endpoint_id in (select id from webhook_endpoints where organization_id = ${organizationId})
          ) order by id limit 1`.pipe(decodeReplays, first),

    freeze: (organizationId) =>
      sql`
          update organizations set frozen_at = coalesce(frozen_at, clock_timestamp())
          where id = ${organizationId} returning frozen_at as "frozenAt"`.pipe(
        decodeFrozen,
        firstOr(OrganizationNotFound, { organizationId }),
        Effect.tap(hints.give("endpoints")),
      ),

    unfreeze: Effect.fnUntraced(function* (organizationId) {
      const rows = yield* sql`update organizations set frozen_at = null where id = ${organizationId} returning id`
      if (rows.length === 0) return yield* new OrganizationNotFound({ organizationId })
      yield* hints.give("endpoints")
      for (const topic of ["events", "due", "inbox", "messages"] as const) yield* hints.give(topic, organizationId)
    }),

    openTransactions: sql`
        select virtualxid as id from pg_locks join pg_stat_activity using (pid)
        where locktype = 'virtualxid' and granted and pid <> pg_backend_pid() and usesysid is not null
          and datid = (select oid from pg_database where datname = current_database())`.pipe(decodeTransactions),
  }
})
