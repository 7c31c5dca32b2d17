import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Finds what happened to one clinician, without a cost for what is sent and received most. */
export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Not of what was sent: the recipient tells that itself.
  yield* sql`
    create index events_of_recipient on events (organization_id, recipient_id, emitted_at)
    where type in ('outreach.email_bounced', 'outreach.email_opened', 'outreach.email_clicked')`
  // An event comes into it when it is applied, so that receiving costs nothing more.
  yield* sql`
    create index inbox_applied_of_clinician on inbox (organization_id, npi, received_at) where applied_at is not null`
})
