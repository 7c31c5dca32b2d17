import type { OrganizationId } from "@outreach/domain/Identifier"
import { orDieAs } from "@outreach/postgres/DatabaseFailure"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** What an id names that is shown on the page of something else, and whose it is. */
export interface FoundObject {
  readonly kind: "key" | "secret" | "sender" | "dkimKey" | "erasure" | "event" | "inboxEvent"
  readonly id: string
  readonly organizationId: OrganizationId
}

/** Finds what an id names that has no page of its own. */
export class ObjectFinder extends Context.Service<ObjectFinder>()("backoffice/operators/ObjectFinder", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    return {
      /** Finds it in one organization, or in all. The ids of partners' events are their own, so several may have one. */
      find: Effect.fn("ObjectFinder.find")(function* (id: string, organizationId: OrganizationId | null) {
        return yield* sql<FoundObject>`
          select found.kind, ${id}::text as id, organization.id as "organizationId" from organizations organization
          cross join lateral (
            select 'key' as kind from api_keys where organization_id = organization.id and id = ${id}
            union all select 'secret' from signing_secrets where organization_id = organization.id and id = ${id}
            union all select 'sender' from senders where organization_id = organization.id and id = ${id}
            union all select 'dkimKey' from dkim_keys where organization_id = organization.id and id = ${id}
            union all select 'erasure' from erasures where organization_id = organization.id and id = ${id}
            union all (select 'event' from events where organization_id = organization.id and id = ${id} limit 1)
            union all select 'inboxEvent' from inbox_keys where organization_id = organization.id and event_id = ${id}
          ) found
          where ${organizationId}::text is null or organization.id = ${organizationId}
          order by organization.id limit 20`
      }, orDieAs("ObjectFinder.find")),
    }
  }),
}) {
  static readonly layer = Layer.effect(ObjectFinder, ObjectFinder.make)
}
