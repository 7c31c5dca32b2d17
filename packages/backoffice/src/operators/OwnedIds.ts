import type { DeliveryId, OrganizationId } from "@outreach/domain/Identifier"
import { DatabaseService } from "@outreach/postgres/adapter"
import { decodeRows } from "@outreach/postgres/rowsOf"
import { Effect, Schema } from "effect"
import { DeliveryReader } from "../deliveries/DeliveryReader.ts"

const decodeIds = decodeRows({ id: Schema.String })

/** Finds whether ids name objects of an organization, so that an operator of one organization reaches nothing of another. */
export class OwnedIds extends DatabaseService<OwnedIds>()("backoffice/operators/OwnedIds", function* (sql) {
  const deliveries = yield* DeliveryReader

  const isOwnDelivery = (organizationId: OrganizationId, id: string) =>
    deliveries.find(id as DeliveryId).pipe(
      Effect.map(({ delivery }) => delivery.organizationId === organizationId),
      Effect.catchTag("DeliveryNotFound", () => Effect.succeed(false)),
    )

  return {
    /** Reports whether every id names something of the organization. An id of nothing, or of a kind that is not known here, is nobody's. */
    areOwned: Effect.fnUntraced(function* (organizationId: OrganizationId, ids: ReadonlyArray<string>) {
      const given = new Set(ids)
      if (given.size === 0) return true
      const rows = yield* sql`
          with given as (select id from unnest(${[...given]}::text[]) as given (id))
          select id from given where id = ${organizationId}
          union select id from programs join given using (id) where organization_id = ${organizationId}
          union select id from campaigns join given using (id) where organization_id = ${organizationId}
          union select id from recipients join given using (id) where organization_id = ${organizationId}
          union select id from senders join given using (id) where organization_id = ${organizationId}
          union select id from dkim_keys join given using (id) where organization_id = ${organizationId}
          union select id from erasures join given using (id) where organization_id = ${organizationId}
          union select id from webhook_endpoints join given using (id) where organization_id = ${organizationId}
          union select id from api_keys join given using (id) where organization_id = ${organizationId}
          union select id from signing_secrets join given using (id) where organization_id = ${organizationId}
          union select id from imports join given using (id) where organization_id = ${organizationId}
          union select id from failure_groups join given using (id) where organization_id = ${organizationId}
          union select given.id from given
            where starts_with(given.id, 'evt_')
              and (exists (select from events where organization_id = ${organizationId} and events.id = given.id)
                or exists (select from inbox_keys where organization_id = ${organizationId} and event_id = given.id))
          union select job.id from replay_jobs job join given using (id)
            left join webhook_endpoints endpoint on endpoint.id = job.endpoint_id
            where coalesce(job.organization_id, endpoint.organization_id) = ${organizationId}`.pipe(decodeIds)
      const known = new Set(rows.map(({ id }) => id))
      for (const id of given) {
        if (known.has(id)) continue
        if (!id.startsWith("dlv_") || !(yield* isOwnDelivery(organizationId, id))) return false
      }
      return true
    }),
  }
}) {}
