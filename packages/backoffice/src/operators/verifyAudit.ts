import { DescribedError } from "@outreach/domain/DescribedError"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { reader } from "@outreach/postgres/adapter"
import { decodeColumn, decodeRows, only, rowsOf } from "@outreach/postgres/rowsOf"
import { Effect, FileSystem, Schema, Stream } from "effect"
import { consistentRead } from "../consistentRead.ts"
import { type ChainFault, ChainLink, chainFaults, parseLine } from "./chainFaults.ts"

const PAGE_SIZE = 2000
const MAX_FAULTS = 100

/** A noted head of the log. */
export interface ChainHead {
  readonly number: number
  readonly hash: string
}

/** The newest entry, or null for an empty log, the first hundred faults, and the numbers of entries. */
export type VerifiedAudit = Effect.Success<ReturnType<typeof verifyAudit>>

class UnreadableExport extends DescribedError("UnreadableExport", "{file} cannot be read.") {}

const HEAD = "link.number, pg_catalog.encode(link.previous, 'hex') as previous, link.kind, link.command_id as id"
const timeOf = (column: string) =>
  `pg_catalog.to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at`
const { columns, decode } = rowsOf(ChainLink, {
  hash: "pg_catalog.encode(hash, 'hex')",
  previous: "pg_catalog.encode(previous, 'hex')",
  id: "command_id",
  isRemoved: "exists (select from audit_chain where command_id = link.command_id and kind = 'removed')",
  line: `case link.kind
    when 'begun' then (select pg_catalog.row_to_json(entry) from (
      select ${HEAD}, ${timeOf("begun_at")}, role, operator, os_user, host, command, arguments, objects, organizations, submission
      from audit_log where id = link.command_id) entry)
    when 'ended' then (select pg_catalog.row_to_json(entry) from (
      select ${HEAD}, ${timeOf("ended_at")}, result, code from audit_results where command_id = link.command_id) entry)
    else (select pg_catalog.row_to_json(entry) from (
      select ${HEAD}, ${timeOf("link.removed_at")}, link.removed_by as role) entry)
  end::text`,
})
const decodeNumbers = decodeColumn({ number: Schema.Number })
const decodeHashes = decodeRows({ number: Schema.Number, hash: Schema.String })
const decodeStrays = decodeRows({ id: Schema.String, kind: Schema.String })

/** Reads the audit log's chain without functions of this database, which the owner of the tables could change. */
export const AuditChain = reader("AuditChain", (sql) => ({
  /** Lists the links after a number, each with its hashed text, built from the current entry; null without its entry. */
  list: (after: number, limit: number) =>
    sql`
        select ${columns}
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
}))

const formatHead = ({ number, hash }: ChainHead): string => `${number}:${hash}`

/**
 * Reads the whole audit log as of one moment, and finds changed entries. Compares it with a noted head and with the lines of an earlier
 * export, to find faults that the log can't show: entries cut off at its end, and a rewritten chain.
 */
export const verifyAudit = Effect.fn("verifyAudit")(function* (options: {
  readonly head?: ChainHead | undefined
  readonly exported?: string | undefined
}) {
  const { list, strays } = yield* AuditChain
  const faults: Array<ChainFault> = []
  // Of commands that were removed by the steps of docs/audit.md, only the links remain.
  let [before, entries, removed]: [ChainLink | undefined, number, number] = [undefined, 0, 0]
  let page: ReadonlyArray<ChainLink>
  do {
    page = yield* list(before?.number ?? 0, PAGE_SIZE)
    for (const link of page) {
      note(faults, chainFaults(before, link))
      removed += link.line === null && link.isRemoved ? 1 : 0
      before = link
    }
    entries += page.length
  } while (page.length === PAGE_SIZE)
  for (const { id, kind } of yield* strays(MAX_FAULTS)) {
    const description = `An entry of ${id} (${kind}) has no link: it was put in past the chain, or its link was removed.`
    note(faults, [{ number: null, id, problem: "unchained", description }])
  }
  if (options.head !== undefined) note(faults, yield* compareWithLog([options.head]))
  if (options.exported !== undefined) note(faults, yield* compareFile(options.exported))
  return { entries, removed, head: before === undefined ? null : formatHead(before), faults }
}, consistentRead)

const note = (faults: Array<ChainFault>, found: ReadonlyArray<ChainFault>): void => {
  faults.push(...found.slice(0, MAX_FAULTS - faults.length))
}

/** Finds the first of these heads that isn't in the log. */
const compareWithLog = Effect.fnUntraced(function* (heads: ReadonlyArray<ChainHead & { readonly id?: string }>) {
  if (heads.length === 0) return []
  const kept = yield* AuditChain.use(({ hashes }) => hashes(heads.map(({ number }) => number)))
  const hashOf = new Map(kept.map(({ number, hash }) => [number, hash]))
  const other = heads.find(({ number, hash }) => hashOf.get(number) !== hash)
  if (other === undefined) return []
  const { number, id = null } = other
  const isAbsent = !hashOf.has(number)
  return [
    {
      number,
      id,
      problem: isAbsent ? "cut off" : "another",
      description: isAbsent
        ? `Entry ${number} was noted or exported, and is not in the log: entries were cut off, or an earlier state was restored.`
        : `Entry ${number} is another than was noted or exported: the log was written anew from there or earlier, or an earlier state was restored.`,
    } satisfies ChainFault,
  ]
})

/** Finds the faults of an export, and its first entry that isn't in the log. */
const compareFile = Effect.fnUntraced(function* (file: string) {
  const { stream } = yield* FileSystem.FileSystem
  const faults: Array<ChainFault> = []
  const differing: Array<ChainFault> = []
  let [before, line]: [ChainLink | undefined, number] = [undefined, 0]
  yield* stream(file).pipe(
    Stream.decodeText,
    Stream.splitLines,
    Stream.grouped(PAGE_SIZE),
    Stream.runForEach(
      Effect.fnUntraced(function* (texts) {
        const links: Array<ChainLink> = []
        for (const text of texts) {
          line += 1
          const link = parseLine(text)
          if (link === undefined || (before !== undefined && link.number <= before.number)) {
            const problem = link === undefined ? "is not an exported entry" : "repeats an entry, or stands before it"
            const description = `Line ${line} of the file ${problem}.`
            note(faults, [{ number: null, id: null, problem: "changed", description }])
            continue
          }
          // A file may start anywhere.
          const first = link.number === 1 ? undefined : { ...link, number: link.number - 1, hash: link.previous ?? "" }
          const found = chainFaults(before ?? first, link)
          const toFault = (fault: ChainFault) => ({ ...fault, description: `In the file: ${fault.description}` })
          note(faults, found.map(toFault))
          links.push(link)
          before = link
        }
        if (differing.length === 0) differing.push(...(yield* compareWithLog(links)))
      }),
    ),
    Effect.mapError(() => new UnreadableExport({ file })),
  )
  return [...faults, ...differing]
})
