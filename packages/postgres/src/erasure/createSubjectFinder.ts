import { SharedAddress, type Subject } from "@outreach/domain/erasure/Erasure"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import { type Clinician, canonicalEmail } from "@outreach/domain/recipients/Clinician"
import { Recipient } from "@outreach/domain/recipients/Recipient"
import { LIFT_TIME_LIMIT } from "@outreach/postgres-connection/sessionSettings"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { decodeColumn, decodeRows } from "../rowsOf.ts"

const { id, token, npi } = Recipient.fields
const decodeRecipients = decodeRows({ id, token, npi, email: Schema.String })
const decodeBodies = decodeColumn({ body: Schema.String })

/** Reads without the statement time limit, because searching a partner's whole inbox takes longer. The limit is lifted for the transaction. */
export const withoutTimeLimit =
  (sql: SqlClient.SqlClient) =>
  <A, E, R>(read: Effect.Effect<A, E, R>) =>
    sql.withTransaction(Effect.andThen(sql.unsafe(LIFT_TIME_LIMIT), read))

/** Creates the function that finds all NPIs and addresses of a person by an NPI or an address. */
export const createSubjectFinder = (sql: SqlClient.SqlClient) => {
  const recipientsBy = (organizationId: OrganizationId, npis: ReadonlyArray<string>, emails: ReadonlyArray<string>) =>
    sql`
      select recipient.id, found.token, found.npi, found.email from campaigns campaign
      cross join lateral (
        select * from recipient_keys
        where organization_id = campaign.organization_id and campaign_id = campaign.id and npi = any (${npis}::text[])
        union
        select * from recipient_keys
        where organization_id = campaign.organization_id and campaign_id = campaign.id and email = any (${emails}::text[])
      ) found
      join recipients recipient on recipient.organization_id = found.organization_id and recipient.id = recipient_id
      where campaign.organization_id = ${organizationId} and erased_at is null
      order by recipient.id`.pipe(decodeRecipients)

  /** Addresses that the partner sent with an NPI. */
  const addressesOf = Effect.fnUntraced(function* (organizationId: OrganizationId, npis: ReadonlyArray<string>) {
    const rows = yield* sql`
      select body from inbox where organization_id = ${organizationId} and npi = any (${npis}::text[])`.pipe(
      decodeBodies,
    )
    return rows.flatMap((body) => {
      const email: unknown = JSON.parse(body).data?.email
      if (typeof email !== "string" || !email.includes("@")) return []
      // The original spelling is included, because texts may contain it.
      return [(canonicalEmail(email) ?? email).toLowerCase(), email.toLowerCase()]
    })
  }, withoutTimeLimit(sql))

  return Effect.fnUntraced(function* (organizationId: OrganizationId, clinician: Clinician) {
    const organizations = yield* sql`select from organizations where id = ${organizationId}`
    if (organizations.length === 0) return yield* new OrganizationNotFound({ organizationId })
    const named = clinician.email === null ? [] : [clinician.email.toLowerCase()]
    const byAddress = yield* recipientsBy(organizationId, [], named)
    const npis = clinician.npi === null ? [...new Set(byAddress.map(({ npi }) => npi))] : [clinician.npi]
    if (npis.length > 1) return yield* new SharedAddress({ npis: npis.length })
    const own = yield* recipientsBy(organizationId, npis, [])
    const known = new Set([...own.map(({ email }) => email), ...(yield* addressesOf(organizationId, npis))])
    const others = (yield* recipientsBy(organizationId, [], [...known])).filter(({ npi }) => !npis.includes(npi))
    for (const { email } of others) known.delete(email)
    const recipients = new Map([...own, ...byAddress].map(({ id, token }) => [id, { id, token }]))
    return {
      organizationId,
      npis,
      emails: [...new Set([...named, ...known])],
      recipients: [...recipients.values()],
    } satisfies Subject
  })
}
