import { SeedMessage } from "@outreach/domain/mail/SeedMessage"
import { SeedRepository } from "@outreach/domain/mail/SeedRepository"
import { Effect, Schema } from "effect"
import { adapter } from "../adapter.ts"
import { forgetRows } from "../forgetRows.ts"
import { decodeValue, rowsOf } from "../rowsOf.ts"
import { toTable } from "../toTable.ts"

const FORGET_BATCH_SIZE = 1000

const seeds = rowsOf(SeedMessage)
const decodeCount = decodeValue({ count: Schema.Int })

export const SeedRepositoryPg = adapter(SeedRepository, (sql) => ({
  add: (messages) =>
    sql`
      with seed as (
        select * from ${toTable("given", messages, { organizationId: "text", id: "text", campaignId: "text", email: "text" })}
      ), recipient as materialized (
        -- By the key of each campaign.
        select from seed join campaigns using (organization_id)
        join recipient_keys keys on keys.organization_id = seed.organization_id and keys.campaign_id = campaigns.id
          and keys.email = lower(seed.email)
      ), added as (
        insert into seed_messages (organization_id, id, campaign_id, email)
        select organization_id, id, campaign_id, email from seed where not exists (select from recipient)
      )
      select count(*)::int as count from recipient`.pipe(decodeCount),

  settle: ({ organizationId, id }, outcome, reply) =>
    sql`
      update seed_messages set outcome = ${outcome}, reply = case when bounced_at is null then ${reply} else reply end
      where organization_id = ${organizationId} and id = ${id}`.pipe(Effect.asVoid),

  list: (campaignId, limit) =>
    sql`
      select ${seeds.columns} from seed_messages where campaign_id = ${campaignId}
      order by created_at desc, id desc limit ${limit}`.pipe(seeds.decode),

  forget: (days) =>
    forgetRows(sql, "seed_messages", {
      key: ["organization_id", "id"],
      where: sql`created_at < plausible_now() - make_interval(days => ${days}::int) and not is_doubtful(created_at)`,
      orderBy: "created_at",
      limit: FORGET_BATCH_SIZE,
    }),
}))
