import { hash } from "node:crypto"
import { OperatorId } from "@outreach/domain/Identifier"
import {
  ListedOperator,
  Operator,
  OperatorNameTaken,
  OperatorNotFound,
  OperatorSession,
  SESSION_IDLE_SECONDS,
  SessionNotFound,
} from "@outreach/domain/operators/Operator"
import { OperatorRepository } from "@outreach/domain/operators/Operators"
import { OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Redacted, Schema } from "effect"
import { adapter } from "../adapter.ts"
import { decodeColumn, decodeRows, first, firstOr, rowsOf } from "../rowsOf.ts"

const { columnsOf, decode } = rowsOf(Operator)
const columns = columnsOf("operator")
/** The operator of a session. A partner's admin acts as `partner` while self-service is off. */
const signedIn = rowsOf(Operator, {
  role: `case when role = 'partner-admin' and not (select self_service from organizations where id = organization_id)
    then 'partner' else role end`,
})
const listed = rowsOf(ListedOperator)
const sessions = rowsOf(OperatorSession)
const decodeIds = decodeColumn({ id: OperatorId })
const decodeLinks = decodeRows({ ...Operator.fields, once: Schema.Boolean })
const decodeExpiries = decodeColumn({ expires_at: Timestamp })

export const OperatorRepositoryPg = adapter(OperatorRepository, function* (sql) {
  const hashed = (token: string | Redacted.Redacted) =>
    sql`decode(${hash("sha256", Redacted.isRedacted(token) ? Redacted.value(token) : token, "hex")}, 'hex')`
  const isUsable = sql.literal("expires_at > statement_timestamp() and not (once and used_at is not null)")
  const isOpen = sql`expires_at > statement_timestamp()
      and last_used_at > statement_timestamp() - make_interval(secs => ${SESSION_IDLE_SECONDS}::double precision)`
  const expiry = (seconds: number) => sql`clock_timestamp() + make_interval(secs => ${seconds}::double precision)`

  return {
    insert: Effect.fnUntraced(function* ({ id, name, role, organizationId }) {
      if (organizationId !== null) {
        const found = yield* sql`select from organizations where id = ${organizationId}`
        if (found.length === 0) return yield* new OrganizationNotFound({ organizationId })
      }
      return yield* sql`
          insert into operators as operator (id, name, role, organization_id)
          values (${id}, ${name}, ${role}, ${organizationId})
          on conflict (name) where removed_at is null do nothing
          returning ${columns}`.pipe(decode, firstOr(OperatorNameTaken, { name }))
    }),

    list: sql`
        select ${listed.columns}
        from operators operator cross join lateral (
          select count(*)::int as sessions, max(last_used_at) as last_used_at
          from operator_sessions where operator_id = operator.id and ${isOpen}
        ) open
        order by operator.id`.pipe(listed.decode),

    find: (operatorId) =>
      sql`select ${columns} from operators operator where id = ${operatorId} and removed_at is null`.pipe(
        decode,
        firstOr(OperatorNotFound, { operatorId }),
      ),

    lockAdmins: sql`
        select id from operators where role = 'admin' and organization_id is null and removed_at is null
        order by id for no key update`.pipe(decodeIds),

    setRole: (operatorId, role) =>
      sql`
          update operators operator set role = ${role} where id = ${operatorId} and removed_at is null
          returning ${columns}`.pipe(decode, firstOr(OperatorNotFound, { operatorId })),

    remove: (operatorId) =>
      sql`
          with links as (
            delete from sign_in_links where operator_id = ${operatorId}
          ), sessions as (
            delete from operator_sessions where operator_id = ${operatorId}
          )
          update operators operator set removed_at = clock_timestamp() where id = ${operatorId} and removed_at is null
          returning ${columns}`.pipe(decode, firstOr(OperatorNotFound, { operatorId })),

    insertLink: (operatorId, { token, seconds, once }) =>
      sql`
          insert into sign_in_links (hash, operator_id, once, expires_at)
          select ${hashed(token)}, id, ${once}, ${expiry(seconds)}
          from operators where id = ${operatorId} and removed_at is null
          returning expires_at`.pipe(decodeExpiries, firstOr(OperatorNotFound, { operatorId })),

    findSignInLink: Effect.fnUntraced(function* (token) {
      const rows = yield* sql`
          select ${columns}, once
          from sign_in_links join operators operator on operator.id = operator_id
          where hash = ${hashed(token)} and ${isUsable} and removed_at is null`.pipe(decodeLinks)
      return rows.map(({ once, ...operator }) => ({ operator, once }))[0]
    }),

    beginSession: (by, { token, seconds }) => {
      const operator =
        "name" in by
          ? sql`select id, name, role, organization_id from operators where name = ${by.name} and removed_at is null`
          : sql`
            update sign_in_links set used_at = clock_timestamp()
            from operators operator
            where hash = ${hashed(by.linkToken)} and ${isUsable} and operator.id = operator_id and removed_at is null
            returning operator.id, name, role, organization_id`
      return sql`
          with operator as (${operator}), session as (
            insert into operator_sessions (hash, operator_id, expires_at)
            select ${hashed(token)}, id, ${expiry(seconds)} from operator
          )
          select ${signedIn.columns} from operator`.pipe(decode, first)
    },

    findSession: (token, { isUse = true } = {}) =>
      sql`
          with session as (
            select hash, operator_id, last_used_at from operator_sessions where hash = ${hashed(token)} and ${isOpen}
          ), used as (
            update operator_sessions set last_used_at = statement_timestamp()
            where hash in (
              select hash from operator_sessions
              where hash in (select hash from session where ${isUse} and last_used_at < statement_timestamp() - interval '1 minute')
              for no key update skip locked
            )
          )
          select ${signedIn.columns} from session join operators on id = operator_id where removed_at is null`.pipe(
        decode,
        first,
      ),

    listSessions: (operatorId) =>
      sql`
          select ${sessions.columns} from operator_sessions where operator_id = ${operatorId} and ${isOpen}
          order by last_used_at desc, id desc`.pipe(sessions.decode),

    endSessions: Effect.fnUntraced(function* (operatorId, sessionId) {
      const ended = yield* sql`
          delete from operator_sessions
          where operator_id = ${operatorId} and (${sessionId ?? null}::text is null or id = ${sessionId ?? null}) and ${isOpen}
          returning id`
      if (sessionId !== undefined && ended.length === 0) return yield* new SessionNotFound({ operatorId, sessionId })
      return ended.length
    }),

    endSession: (token) => sql`delete from operator_sessions where hash = ${hashed(token)}`,
  }
})
