import type { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { Program } from "@outreach/domain/programs/Program"
import { reader } from "@outreach/postgres/adapter"
import { allOf, equal, rowsOf } from "@outreach/postgres/rowsOf"
import { Schema, Struct } from "effect"
import { CampaignTotals } from "../campaigns/CampaignReader.ts"

const ProgramWithTotals = Schema.Struct({
  ...Program.fields,
  /** The sums of its campaigns' counts. */
  ...Struct.pick(CampaignTotals.fields, ["sent", "refusedLater", "complained", "unsubscribed"]),
})

const { columns, decode } = rowsOf(ProgramWithTotals)

/** Reads programs with the sums of their campaigns. */
export const ProgramReader = reader("ProgramReader", (sql) => ({
  /** Lists programs, oldest first; all conditions must match. */
  list: (
    filter: {
      readonly organizationId?: OrganizationId | undefined
      readonly programId?: ProgramId
      /** Only those newer than this one. */
      readonly after?: ProgramId | undefined
    },
    limit?: number,
  ) =>
    sql`
      select ${columns} from (
        select * from programs
        where ${allOf(
          equal({ organization_id: filter.organizationId, id: filter.programId }),
          filter.after && sql`id > ${filter.after}`,
        )}
        order by id limit ${limit ?? null}
      ) programs
      cross join lateral (
        select coalesce(sum(totals.sent), 0)::int as sent, coalesce(sum(totals.refused_later), 0)::int as refused_later,
          coalesce(sum(totals.complained), 0)::int as complained, coalesce(sum(totals.unsubscribed), 0)::int as unsubscribed
        from campaigns cross join lateral campaign_totals(campaigns.organization_id, campaigns.id) totals
        where campaigns.organization_id = programs.organization_id and program_id = programs.id
      ) sums
      order by id`.pipe(decode),
}))
