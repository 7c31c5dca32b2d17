import type { Timestamp } from "@outreach/domain/Timestamp"
import { DatabaseService } from "@outreach/postgres/adapter"
import { decodeColumn, decodeRows, only } from "@outreach/postgres/rowsOf"
import { Schema } from "effect"
import { ChainLink } from "./chainFaults.ts"

const decode = decodeRows(ChainLink.fields)
const decodeNumbers = decodeColumn({ number: Schema.Number })
const decodeHashes = decodeRows({ number: Schema.Number, hash: Schema.String })
const decodeStrays = decodeRows({ id: Schema.String, kind: Schema.String })

/** Reads the audit log's chain without functions of this database, which the owner of the tables could change. */
export class AuditChain extends DatabaseService<AuditChain>()("backoffice/operators/AuditChain", (sql) => {
  const time = (column: string) =>
    sql`pg_catalog.to_char(${sql.literal(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at`
  const head = sql`link.number, pg_catalog.encode(link.previous, 'hex') as previous, link.kind, link.command_id as id`

  return {
    /** Lists the links after a number, each with its hashed text, built from the current entry; null without its entry. */
    list: (after: number, limit: number) =>
      sql`
        select ${head}, pg_catalog.encode(link.hash, 'hex') as hash,
          exists (select from audit_chain where command_id = link.command_id and kind = 'removed') as "isRemoved",
          case link.kind
            when 'begun' then (select pg_catalog.row_to_json(entry) from (
              select ${head}, ${time("begun_at")}, role, operator, os_user, host, command, arguments, objects, organizations, submission
              from audit_log where id = link.command_id) entry)
            when 'ended' then (select pg_catalog.row_to_json(entry) from (
              select ${head}, ${time("ended_at")}, result, code from audit_results where command_id = link.command_id) entry)
            else (select pg_catalog.row_to_json(entry) from (
              select ${head}, ${time("link.removed_at")}, link.removed_by as role) entry)
          end::text as line
        from (select * from audit_chain where number > ${after} order by number limit ${limit}) link order by number`.pipe(
        decode,
      ),

    /** Returns the hashes of the links that exist. */
    hashes: (numbers: ReadonlyArray<number>) =>
      sql`
        select number, pg_catalog.encode(hash, 'hex') as hash from audit_chain
        where number = any (${numbers}::integer[])`.pipe(decodeHashes),

    /** Lists entries without a link. */
    strays: (limit: number) =>
      sql`
        select id, 'begun' as kind from audit_log
        where not exists (select from audit_chain where command_id = id and kind = 'begun')
        union all
        select command_id, 'ended' from audit_results ended
        where not exists (select from audit_chain where command_id = ended.command_id and kind = 'ended')
        limit ${limit}`.pipe(decodeStrays),

    /** Returns the number of the last link before the first entry at or after this time. */
    numberBefore: (since: Timestamp) =>
      sql`
        select coalesce(min(number) - 1, (select coalesce(max(number), 0) from audit_chain)) as number
        from audit_chain link
        left join audit_log on id = command_id and kind = 'begun'
        left join audit_results ended on ended.command_id = link.command_id and kind = 'ended'
        where coalesce(begun_at, ended_at, removed_at) >= ${since}`.pipe(decodeNumbers, only),
  }
}) {}
