import { FEED_EVENT_TYPES } from "@outreach/contract"
import type { OrganizationId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"

/** A row after one commit: stamp, space, id. Versions sort as text in list order. */
export type Version = `${Timestamp} ${string}`

export const versionOf = (stamp: Timestamp, id: string): Version => `${stamp} ${id}`

/** Returns the versions of an organization's rows. */
const versions =
  (query: (organizationId: OrganizationId) => ReturnType<typeof sql<Row>>) => (organizationId: OrganizationId) =>
    Effect.map(
      query(organizationId),
      (rows): ReadonlySet<Version> => new Set(rows.map(({ stamp, id }) => versionOf(stamp, id))),
    )

interface Row {
  readonly stamp: Timestamp
  readonly id: string
}

// Events never change, so all committed versions are in the table.
const feed = versions(
  (organizationId) => sql<Row>`
    select emitted_at as stamp, id from events
    where organization_id = ${organizationId} and type = any (${FEED_EVENT_TYPES}::text[])`,
)

/** The polled lists by content. Pollers must have seen all `expected` versions, those in the table, and only `committed` ones. */
export const LISTS = {
  recipients: {
    path: "/v1/partners/consumer/tokens",
    stampField: "updated_at",
    idField: "service_recipient_id",
    expected: versions(
      (organizationId) =>
        sql<Row>`select updated_at as stamp, id from recipients where organization_id = ${organizationId}`,
    ),
    committed: versions(
      (organizationId) =>
        sql<Row>`select updated_at as stamp, id from recipient_versions where organization_id = ${organizationId}`,
    ),
  },
  events: {
    path: "/v1/partners/consumer/events",
    stampField: "emitted_at",
    idField: "event_id",
    expected: feed,
    committed: feed,
  },
}
