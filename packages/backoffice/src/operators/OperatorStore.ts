import { hash } from "node:crypto"
import { createIdentifier, type OperatorId } from "@outreach/domain/Identifier"
import {
  type Operator,
  OperatorNameTaken,
  OperatorNotFound,
  type OperatorRole,
  SESSION_SECONDS,
} from "@outreach/domain/operators/Operator"
import { OrganizationNotFound } from "@outreach/domain/organizations/Organization"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { orDieAs } from "@outreach/postgres/DatabaseFailure"
import { isOpenSession, isUsableLink } from "@outreach/postgres/operators/deleteExpiredSignIns"
import { Context, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"

/** An operator with what a list shows. */
export interface ListedOperator extends Operator {
  readonly createdAt: Timestamp
  readonly removedAt: Timestamp | null
  /** How many sessions are open. */
  readonly sessions: number
  /** The last use of an open session, to the minute. */
  readonly lastUsedAt: Timestamp | null
}

/** A sign-in link that can be used. */
export interface SignInLink {
  readonly operator: Operator
  /** Whether its first use is its last. */
  readonly once: boolean
}

/** A session at its begin: the only time that its token is seen. */
export interface BegunSession {
  readonly operator: Operator
  readonly token: Redacted.Redacted
}

/** Keeps operators, their sign-in links and their sessions; of tokens only SHA-256 hashes. */
export class OperatorStore extends Context.Service<OperatorStore>()("backoffice/operators/OperatorStore", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const random = yield* SecureRandom.SecureRandom

    /** Draws a token of 256 bits: 43 characters of base64url. */
    const drawToken = Effect.map(random.randomBytes(32), (bytes) => Buffer.from(bytes).toString("base64url"))
    const hashed = (token: string) => sql`decode(${hash("sha256", token, "hex")}, 'hex')`

    const columns = sql.literal(
      `operator.id, operator.name, operator.role, operator.organization_id as "organizationId"`,
    )
    const isUsable = isUsableLink(sql)
    const isOpen = isOpenSession(sql)

    const one = (operatorId: OperatorId) => (rows: ReadonlyArray<Operator>) =>
      rows[0] === undefined ? Effect.fail(new OperatorNotFound({ operatorId })) : Effect.succeed(rows[0])

    return {
      /** Adds an operator of all organizations, or of one. */
      add: Effect.fn("OperatorStore.add")(function* (operator: Omit<Operator, "id">) {
        const { name, role, organizationId } = operator
        if (organizationId !== null) {
          const found = yield* sql`select from organizations where id = ${organizationId}`
          if (found.length === 0) return yield* new OrganizationNotFound({ organizationId })
        }
        const id = yield* createIdentifier("operator").pipe(Effect.provideService(SecureRandom.SecureRandom, random))
        const rows = yield* sql<Operator>`
          insert into operators as operator (id, name, role, organization_id)
          values (${id}, ${name}, ${role}, ${organizationId})
          on conflict (name) where removed_at is null do nothing
          returning ${columns}`
        return rows[0] ?? (yield* new OperatorNameTaken({ name }))
      }, orDieAs("OperatorStore.add")),

      /** Lists all operators, also removed ones, oldest first. */
      list: sql<ListedOperator>`
        select ${columns}, created_at as "createdAt", removed_at as "removedAt", sessions, "lastUsedAt"
        from operators operator cross join lateral (
          select count(*)::int as sessions, max(last_used_at) as "lastUsedAt"
          from operator_sessions where operator_id = operator.id and ${isOpen}
        ) open
        order by operator.id`.pipe(orDieAs("OperatorStore.list")),

      /** Finds an operator. */
      find: Effect.fn("OperatorStore.find")(
        (operatorId: OperatorId) =>
          Effect.flatMap(
            sql<Operator>`select ${columns} from operators operator where id = ${operatorId} and removed_at is null`,
            one(operatorId),
          ),
        orDieAs("OperatorStore.find"),
      ),

      /** Gives an operator another role, also in the sessions that are open. */
      setRole: Effect.fn("OperatorStore.setRole")(
        (operatorId: OperatorId, role: OperatorRole) =>
          Effect.flatMap(
            sql<Operator>`
              update operators operator set role = ${role} where id = ${operatorId} and removed_at is null
              returning ${columns}`,
            one(operatorId),
          ),
        orDieAs("OperatorStore.setRole"),
      ),

      /** Removes an operator, and ends the operator's sessions and links. The name is free again. */
      remove: Effect.fn("OperatorStore.remove")(
        (operatorId: OperatorId) =>
          Effect.flatMap(
            sql<Operator>`
              with links as (
                delete from sign_in_links where operator_id = ${operatorId}
              ), sessions as (
                delete from operator_sessions where operator_id = ${operatorId}
              )
              update operators operator set removed_at = clock_timestamp() where id = ${operatorId} and removed_at is null
              returning ${columns}`,
            one(operatorId),
          ),
        orDieAs("OperatorStore.remove"),
      ),

      /** Creates a sign-in link and returns its token, which is seen only now. */
      createSignInLink: Effect.fn("OperatorStore.createSignInLink")(function* (
        operatorId: OperatorId,
        { seconds, once }: { readonly seconds: number; readonly once: boolean },
      ) {
        const token = yield* drawToken
        const rows = yield* sql<{ expiresAt: Timestamp }>`
          insert into sign_in_links (hash, operator_id, once, expires_at)
          select ${hashed(token)}, id, ${once}, clock_timestamp() + make_interval(secs => ${seconds}::double precision)
          from operators where id = ${operatorId} and removed_at is null
          returning expires_at as "expiresAt"`
        if (rows[0] === undefined) return yield* new OperatorNotFound({ operatorId })
        return { token: Redacted.make(token), expiresAt: rows[0].expiresAt }
      }, orDieAs("OperatorStore.createSignInLink")),

      /** Finds a link that can be used, without using it; undefined for an unknown, expired or used one. */
      findSignInLink: Effect.fn("OperatorStore.findSignInLink")(function* (token: string) {
        const [row] = yield* sql<Operator & { once: boolean }>`
          select ${columns}, once
          from sign_in_links join operators operator on operator.id = operator_id
          where hash = ${hashed(token)} and ${isUsable} and removed_at is null`
        if (row === undefined) return undefined
        const { once, ...operator } = row
        return { operator, once } satisfies SignInLink
      }, orDieAs("OperatorStore.findSignInLink")),

      /** Uses a link: begins a session; undefined for an unknown, expired or used link. Of concurrent uses of a link for one use, one begins a session. */
      signIn: Effect.fn("OperatorStore.signIn")(function* (linkToken: string) {
        const token = yield* drawToken
        const rows = yield* sql<Operator>`
          with operator as (
            update sign_in_links set used_at = clock_timestamp()
            from operators operator
            where hash = ${hashed(linkToken)} and ${isUsable} and operator.id = operator_id and removed_at is null
            returning operator.id, name, role, organization_id
          ), session as (
            insert into operator_sessions (hash, operator_id, expires_at)
            select ${hashed(token)}, id, clock_timestamp() + make_interval(secs => ${SESSION_SECONDS}::double precision)
            from operator
          )
          select ${columns} from operator`
        return begun(rows, token)
      }, orDieAs("OperatorStore.signIn")),

      /** Begins a session of the operator whom a trusted proxy names; undefined if there is none of this name. */
      signInByName: Effect.fn("OperatorStore.signInByName")(function* (name: string) {
        const token = yield* drawToken
        const rows = yield* sql<Operator>`
          with session as (
            insert into operator_sessions (hash, operator_id, expires_at)
            select ${hashed(token)}, id, clock_timestamp() + make_interval(secs => ${SESSION_SECONDS}::double precision)
            from operators where name = ${name} and removed_at is null
            returning operator_id
          )
          select ${columns} from session join operators operator on operator.id = operator_id`
        return begun(rows, token)
      }, orDieAs("OperatorStore.signInByName")),

      /** Finds whose session a token is, and notes the use, at most once a minute; undefined if it has ended. */
      findSession: Effect.fn("OperatorStore.findSession")(function* (
        token: string,
        {
          isUse = true,
        }: {
          /** Whether somebody uses the session, so that it is not idle. Default true. */
          readonly isUse?: boolean
        } = {},
      ) {
        const rows = yield* sql<Operator>`
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
          select ${columns} from session join operators operator on operator.id = operator_id where removed_at is null`
        return rows[0]
      }, orDieAs("OperatorStore.findSession")),

      /** Ends a session, if there is one. */
      endSession: Effect.fn("OperatorStore.endSession")(function* (token: string) {
        yield* sql`delete from operator_sessions where hash = ${hashed(token)}`
      }, orDieAs("OperatorStore.endSession")),
    }
  }),
}) {
  static readonly layer = Layer.effect(OperatorStore, OperatorStore.make)
}

const begun = (rows: ReadonlyArray<Operator>, token: string): BegunSession | undefined =>
  rows[0] && { operator: rows[0], token: Redacted.make(token) }
