import { SenderId } from "@outreach/domain/Identifier"
import {
  LinkDomain,
  LinkDomainInUse,
  LinkDomainNotFound,
  LinkDomainRepository,
  VERIFYING_MINUTES,
} from "@outreach/domain/senders/LinkDomainRepository"
import { Effect, Struct } from "effect"
import { adapter } from "../adapter.ts"
import { decodeColumn, equal, firstOr, rowsOf } from "../rowsOf.ts"

const { columns, decode } = rowsOf(LinkDomain)
const served = rowsOf(LinkDomain.mapFields(Struct.pick(["domain", "organizationId"])))
const decodeSenders = decodeColumn({ id: SenderId })

export const LinkDomainRepositoryPg = adapter(LinkDomainRepository, (sql) => ({
  readServed: () =>
    sql`
      select ${served.columns} from link_domains
      where verified_at is not null or verifying_until > clock_timestamp()`.pipe(served.decode),

  list: (organizationId) =>
    sql`select ${columns} from link_domains where ${equal({ organization_id: organizationId })} order by domain`.pipe(
      decode,
    ),

  beginVerification: (organizationId, domain) =>
    sql`
      update link_domains set verifying_until = clock_timestamp() + make_interval(mins => ${VERIFYING_MINUTES}::int)
      where organization_id = ${organizationId} and domain = ${domain}`.pipe(Effect.asVoid),

  verify: (organizationId, domain) =>
    sql`
      update link_domains set verified_at = coalesce(verified_at, clock_timestamp())
      where organization_id = ${organizationId} and domain = ${domain}`.pipe(Effect.asVoid),

  remove: Effect.fnUntraced(function* (domain) {
    const [senderId] = yield* sql`select id from senders where link_domain = ${domain} order by id limit 1`.pipe(
      decodeSenders,
    )
    if (senderId !== undefined) return yield* new LinkDomainInUse({ senderId, domain })
    return yield* sql`delete from link_domains where domain = ${domain} returning ${columns}`.pipe(
      decode,
      firstOr(LinkDomainNotFound, { domain }),
    )
  }),
}))
