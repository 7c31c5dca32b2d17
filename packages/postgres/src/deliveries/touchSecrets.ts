import type { OrganizationId } from "@outreach/domain/Identifier"
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** How often the use of a secret is noted, and so how late the note may be. */
const NOTED_EVERY_MS = 300_000

/** Creates the function that notes when organizations' active secrets were last used: one statement in five minutes, and never a wait. */
export const touchSecrets = (sql: SqlClient.SqlClient) => {
  const noted = new Map<OrganizationId, number>()
  return Effect.fnUntraced(
    function* (organizationIds: ReadonlyArray<OrganizationId>) {
      const now = yield* Clock.currentTimeMillis
      const due = organizationIds.filter((id) => now - (noted.get(id) ?? Number.NEGATIVE_INFINITY) >= NOTED_EVERY_MS)
      if (due.length === 0) return
      yield* sql`
        update signing_secrets set last_used_at = clock_timestamp()
        where id in (
          select id from signing_secrets
          where organization_id = any (${due}::text[]) and (expires_at is null or expires_at > clock_timestamp())
            and (last_used_at is null
              or last_used_at < clock_timestamp() - make_interval(secs => ${NOTED_EVERY_MS / 1000}::double precision))
          for update skip locked
        )`
      for (const id of due) noted.set(id, now)
    },
    // The note is not worth a lease; the next claim tries again.
    (noting) => Effect.ignore(noting),
  )
}
