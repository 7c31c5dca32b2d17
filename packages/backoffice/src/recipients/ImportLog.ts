import { type Campaign, CampaignKey } from "@outreach/domain/campaigns/Campaign"
import { DescribedError } from "@outreach/domain/DescribedError"
import { ImportId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { reader } from "@outreach/postgres/adapter"
import { assigned, decodeValue, firstOr, keyset, rowsOf } from "@outreach/postgres/rowsOf"
import { Effect, Schema, Struct } from "effect"

/** Maximum number of stored rejected lines of an import, and of imports of a campaign. */
export const MAX_KEPT = { rejects: 1000, imports: 200 } as const

/** Time without a heartbeat after which an import's process counts as dead. A batch takes seconds. */
const SILENCE = "5 minutes"

const counts = {
  /** Null until the first pass has counted them. */
  lines: Schema.NullOr(Schema.Int),
  imported: Schema.Int,
  updated: Schema.Int,
  alreadyThere: Schema.Int,
  suppressed: Schema.Int,
  repeated: Schema.Int,
  rejected: Schema.Int,
}
export type ImportCounts = Schema.Struct<typeof counts>["Type"]
const COUNTS = Struct.keys(counts)

const ImportRecord = Schema.Struct({
  id: ImportId,
  ...CampaignKey.fields,
  operator: Schema.String,
  begunAt: Timestamp,
  endedAt: Schema.NullOr(Timestamp),
  /** `failed` has a fault; the process of an `interrupted` import is dead. */
  status: Schema.Literals(["running", "finished", "failed", "interrupted"]),
  fault: Schema.NullOr(Schema.String),
  ...counts,
})
export type ImportRecord = typeof ImportRecord.Type

const Reject = Schema.Struct({ line: Schema.Int, reason: Schema.String })
export type Reject = typeof Reject.Type

export class ImportNotFound extends DescribedError("ImportNotFound", "No import {importId}.") {}

const status = `case when fault is not null then 'failed' when ended_at is not null then 'finished'
  when active_at < clock_timestamp() - interval '${SILENCE}' then 'interrupted' else 'running' end`

const records = rowsOf(ImportRecord, { status })
const details = rowsOf(Schema.Struct({ ...ImportRecord.fields, rejects: Schema.Array(Reject) }), { status })
const decodeId = decodeValue({ id: ImportId })
const newestFirst = keyset({ id: "id" }, "desc")

type Key = Pick<ImportRecord, "organizationId" | "id">

/** Records the imports of lists: the operator, the number of lines by outcome, and the first rejected ones with reasons. */
export const ImportLog = reader("ImportLog", (sql) => ({
  /** Records the start of an import, and deletes the campaign's oldest record. Returns its id. */
  begin: ({ organizationId, id }: Pick<Campaign, "organizationId" | "id">, operator: string) =>
    sql`
      with old as (
        select id from imports where organization_id = ${organizationId} and campaign_id = ${id}
        order by id desc offset ${MAX_KEPT.imports - 1}::int
      ), gone as (
        delete from imports using old where organization_id = ${organizationId} and imports.id = old.id
      )
      insert into imports (organization_id, campaign_id, operator) values (${organizationId}, ${id}, ${operator})
      returning id`.pipe(decodeId),

  /** Stores an import's progress: `rejects` are all so far, of which the first are stored; undefined if there are no new ones. */
  save: ({ organizationId, id }: Key, counts: ImportCounts, rejects: ReadonlyArray<Reject> | undefined) =>
    sql`
      update imports set ${assigned(Struct.pick(counts, COUNTS))} active_at = clock_timestamp(),
        rejects = coalesce(${rejects ? JSON.stringify(rejects.slice(0, MAX_KEPT.rejects)) : null}::text::jsonb, rejects)
      where organization_id = ${organizationId} and id = ${id}`.pipe(Effect.asVoid),

  end: ({ organizationId, id }: Key, fault: string | null) =>
    sql`
      update imports set ended_at = clock_timestamp(), fault = ${fault}
      where organization_id = ${organizationId} and id = ${id}`.pipe(Effect.asVoid),

  /** Lists the imports of a campaign, newest first: at most `limit`, starting at a given one. */
  list: (
    { organizationId, id }: Pick<Campaign, "organizationId" | "id">,
    { limit, before = null }: { readonly limit: number; readonly before?: { readonly id: ImportId } | null },
  ) =>
    sql`
      select ${records.columns} from imports
      where organization_id = ${organizationId} and campaign_id = ${id} and ${newestFirst.after(before)}
      order by ${newestFirst.order} limit ${limit}`.pipe(records.decode),

  /** Finds an import with its rejected lines. */
  find: (importId: ImportId) =>
    sql`
      select ${details.columns} from imports
      where organization_id in (select id from organizations) and id = ${importId}`.pipe(
      details.decode,
      firstOr(ImportNotFound, { importId }),
    ),
}))
