import { FEED_EVENT_TYPES } from "@outreach/contract"
import type { OrganizationId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

/** A row after one commit: stamp, space, id. Versions sort as text in list order. */
export type Version = `${Timestamp} ${string}`

export const versionOf = (stamp: Timestamp, id: string): Version => `${stamp} ${id}`

/** A polled list, and the database's content of it. */
export interface PolledList {
  readonly path: string
  readonly stampField: string
  readonly idField: string
  /** The versions in the table: pollers must have seen all of them. */
  readonly expected: Versions
  /** All committed versions: pages must contain only these. */
  readonly committed: Versions
}

type Versions = (
  organizationId: OrganizationId,
) => Effect.Effect<ReadonlySet<Version>, SqlError.SqlError, SqlClient.SqlClient>

const versions =
  (query: (organizationId: OrganizationId) => ReturnType<typeof sql<Row>>): Versions =>
  (organizationId) =>
    Effect.map(query(organizationId), (rows) => new Set(rows.map(({ stamp, id }) => versionOf(stamp, id))))

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

/** The polled lists by content. */
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
} satisfies Record<string, PolledList>
