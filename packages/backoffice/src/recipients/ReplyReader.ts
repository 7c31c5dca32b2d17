import { COUNT_CAP } from "@outreach/domain/countCaps"
import type { OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { Reply } from "@outreach/domain/mail/Reply"
import { DatabaseService } from "@outreach/postgres/adapter"
import { equal } from "@outreach/postgres/conditions"
import { decodeRows, rowsOf } from "@outreach/postgres/rowsOf"
import { Effect, Schema } from "effect"

const replies = rowsOf(Reply, { campaignId: "recipient.campaign_id" })

const decodeCount = decodeRows({ count: Schema.Int })

/** Reads what people wrote to return paths. */
export class ReplyReader extends DatabaseService<ReplyReader>()("backoffice/recipients/ReplyReader", (sql) => {
  const found = sql`
    select ${replies.columnsOf("reply")} from replies reply
    join recipients recipient on recipient.organization_id = reply.organization_id and recipient.id = recipient_id`
  return {
    /** Lists the replies that wait for an operator, oldest first. */
    listWaiting: (organizationId: OrganizationId | undefined, limit: number) =>
      sql`${found} where done_at is null and ${equal({ "reply.organization_id": organizationId })}
        order by received_at limit ${limit}`.pipe(replies.decode),

    /** Counts the replies that wait, up to `COUNT_CAP`. */
    countWaiting: (organizationId: OrganizationId | undefined) =>
      sql`select count(*)::int as count from (
        select from replies where done_at is null and ${equal({ organization_id: organizationId })} limit ${COUNT_CAP}
      ) waiting`.pipe(
        decodeCount,
        Effect.map(([row]) => row!.count),
      ),

    /** Lists the replies that wait or are done, newest first. */
    listAll: (organizationId: OrganizationId | undefined, limit: number) =>
      sql`${found} where ${equal({ "reply.organization_id": organizationId })}
        order by received_at desc limit ${limit}`.pipe(replies.decode),

    /** Finds the replies of recipients of any organization, oldest first. */
    find: (recipientIds: ReadonlyArray<RecipientId>) =>
      sql`${found} where reply.organization_id in (select id from organizations) and recipient_id = any (${recipientIds}::text[])
        order by received_at, number`.pipe(replies.decode),
  }
}) {}
