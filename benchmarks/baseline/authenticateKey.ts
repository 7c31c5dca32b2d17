import { createHash } from "node:crypto"
import type { Sql } from "./connect.ts"
import { RequestError } from "./RequestError.ts"

/** The organization and scopes of a key, and the number of its requests in this clock minute. */
export interface AuthenticatedKey {
  readonly organizationId: string
  readonly scopes: readonly string[]
  readonly count: number
  /** Unix seconds of the database's clock. */
  readonly now: number
}

/** The maximum of requests per clock minute. */
export const LIMIT = 100

/** Authenticates a bearer and counts the request, in one statement. Throws for a bearer that is unknown, expired or revoked. */
export async function authenticateKey(sql: Sql, authorization: string | undefined): Promise<AuthenticatedKey> {
  const text = /^Bearer +(orp_test_[0-9A-Za-z]{30}_[0-9A-Za-z]{6}) *$/i.exec(authorization ?? "")?.[1]
  if (text === undefined) throw unauthorized()
  const hash = createHash("sha256").update(text).digest()
  const [admission] = await sql<AuthenticatedKey[]>`
    with caller as (
      select id, organization_id, scopes, last_used_at from api_keys
      where hash = ${hash} and revoked_at is null and (expires_at is null or expires_at > now())
    ), counted as (
      insert into rate_windows (key_id, window_start, count)
      select id, extract(epoch from date_trunc('minute', now()))::bigint, 1 from caller
      on conflict (key_id, window_start) do update set count = rate_windows.count + 1
      returning count
    ), used as (
      update api_keys set last_used_at = now()
      where id = (select id from caller where last_used_at is null or last_used_at < now() - interval '5 minutes')
    )
    select organization_id as "organizationId", scopes, count, extract(epoch from now())::float8 as now
    from caller, counted`
  if (admission === undefined) throw unauthorized()
  return admission
}

const unauthorized = () =>
  new RequestError(401, "authentication_error", "UNAUTHORIZED", "The bearer is missing, malformed, expired or revoked.")
