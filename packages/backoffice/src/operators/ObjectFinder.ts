import { OrganizationId } from "@outreach/domain/Identifier"
import { DatabaseService } from "@outreach/postgres/adapter"
import { decodeRows } from "@outreach/postgres/rowsOf"
import { Schema } from "effect"

const KINDS = ["key", "secret", "sender", "dkimKey", "erasure", "event", "inboxEvent"] as const

/** An object that is shown on the page of another one, and its organization. */
const FoundObject = Schema.Struct({ kind: Schema.Literals(KINDS), id: Schema.String, organizationId: OrganizationId })
export type FoundObject = typeof FoundObject.Type

const decodeObjects = decodeRows(FoundObject.fields)

/** Finds what an id names that has no page of its own. */
export class ObjectFinder extends DatabaseService<ObjectFinder>()("backoffice/operators/ObjectFinder", (sql) => ({
  /** Finds it in one organization, or in all. The ids of partners' events are their own, so several may have one. */
  find: (id: string, organizationId: OrganizationId | null) =>
    sql`
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
      order by organization.id limit 20`.pipe(decodeObjects),
})) {}
