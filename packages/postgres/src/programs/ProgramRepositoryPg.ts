import { UNDER_WAY } from "@outreach/domain/campaigns/Campaign"
import { CampaignId, OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import { Program } from "@outreach/domain/programs/Program"
import { ProgramNotFound, ProgramRepository, ProgramSlugTaken } from "@outreach/domain/programs/Programs"
import { Effect, Schema } from "effect"
import { adapter } from "../adapter.ts"
import { addToFunnels } from "../digest/DigestRepositoryPg.ts"
import { Hints } from "../events/Hints.ts"
import {
  assigned,
  decodeColumn,
  decodeCount,
  decodeIsTrue,
  decodeRows,
  equal,
  firstOr,
  only,
  rowsOf,
} from "../rowsOf.ts"

const { columns, decode } = rowsOf(Program)
const decodeOwners = decodeColumn({ organization_id: OrganizationId })
const decodeSlugs = decodeRows({ slug: Schema.String, id: ProgramId })
const decodeCampaigns = decodeColumn({ id: CampaignId })

export const ProgramRepositoryPg = adapter(ProgramRepository, function* (sql) {
  const hints = yield* Hints
  return {
    create: Effect.fnUntraced(function* (program) {
      const { organizationId, id, slug, name, senderName, postalAddress, learnerTarget, completerTarget } = program
      const created = yield* sql`
          insert into programs (organization_id, id, slug, name, sender_name, postal_address, learner_target, completer_target)
          select organizations.id, ${id}, ${slug}, ${name}, ${senderName ?? null}, ${postalAddress ?? null}, ${learnerTarget}::int, ${completerTarget}::int
          from organizations where organizations.id = ${organizationId}
          on conflict on constraint programs_slug do nothing
          returning ${columns}`.pipe(decode)
      if (created[0] !== undefined) return created[0]
      const known = yield* sql`select from organizations where id = ${organizationId}`
      return yield* known.length > 0 ? new ProgramSlugTaken({ slug }) : new OrganizationNotFound({ organizationId })
    }),

    find: (programId) =>
      sql`select ${columns} from programs where id = ${programId}`.pipe(
        decode,
        firstOr(ProgramNotFound, { programId }),
      ),

    findIds: Effect.fnUntraced(function* (organizationId, slugs) {
      // PostgreSQL doesn't store NUL characters, so such a slug can't exist.
      const texts = slugs.filter((slug) => !slug.includes("\0"))
      const rows = yield* sql`
          select slug, id from programs
          where organization_id = ${organizationId} and slug = any (${texts}::text[])`.pipe(decodeSlugs)
      return new Map(rows.map(({ slug, id }) => [slug, id]))
    }),

    isQuotaReached: (organizationId, programId) =>
      sql`select quota_reached(${organizationId}, ${programId}) as is_true`.pipe(decodeIsTrue),

    countCompleters: (organizationId, programId) =>
      sql`
          select coalesce((
            select completer_qualified_total from digest_funnel
            where organization_id = ${organizationId} and program_id = ${programId} order by date desc limit 1
          ), 0) as count`.pipe(decodeCount),

    lock: (programId) =>
      sql`select organization_id from programs where id = ${programId} for no key update`.pipe(
        decodeOwners,
        firstOr(ProgramNotFound, { programId }),
      ),

    findUnderWay: (organizationId, programId, limit) =>
      sql`
          select id from campaigns
          where organization_id = ${organizationId} and program_id = ${programId} and status = any (${UNDER_WAY}::text[])
          order by id limit ${limit}`.pipe(decodeCampaigns),

    update: (organizationId, programId, changes) => {
      const { name, senderName, postalAddress, status, learnerTarget, completerTarget } = changes
      const values = assigned({ name, senderName, postalAddress, status, learnerTarget, completerTarget })
      return sql`
          update programs set ${values} updated_at = clock_timestamp()
          where organization_id = ${organizationId} and id = ${programId}
          returning ${columns}`.pipe(decode, only, Effect.tap(hints.give("inbox", organizationId)))
    },

    updateTargets: (organizationId, programId, at) => addToFunnels(sql, organizationId, [programId], [], at),

    list: (organizationId) =>
      sql`select ${columns} from programs where ${equal({ organization_id: organizationId })} order by id`.pipe(decode),
  }
})
