import { Context, Effect, Redacted } from "effect"
import { createIdentifier, type OperatorId, type OrganizationId, randomBase62, type SessionId } from "../Identifier.ts"
import type { OrganizationNotFound } from "../organizations/Organization.ts"
import type { Timestamp } from "../Timestamp.ts"
import { inTransaction } from "../Transaction.ts"
import {
  isUnboundPartner,
  LastAdmin,
  type ListedOperator,
  type Operator,
  type OperatorNameTaken,
  type OperatorNotFound,
  type OperatorRole,
  type OperatorSession,
  type PartnerRole,
  PartnerUnbound,
  SESSION_SECONDS,
  type SessionNotFound,
} from "./Operator.ts"

/** A token to store, and its lifetime. */
export interface NewToken {
  readonly token: Redacted.Redacted
  readonly seconds: number
}

/**
 * Stores operators, sign-in links and sessions; only SHA-256 hashes of tokens. In a session, a partner's admin has the role `partner` while
 * self-service is off for the organization.
 */
export class OperatorRepository extends Context.Service<
  OperatorRepository,
  {
    insert(operator: Operator): Effect.Effect<Operator, OrganizationNotFound | OperatorNameTaken>
    /** All operators including removed ones, oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<ListedOperator>>
    find(operatorId: OperatorId): Effect.Effect<Operator, OperatorNotFound>
    /** Lists and locks the admins of all organizations. Part of a transaction. */
    readonly lockAdmins: Effect.Effect<ReadonlyArray<OperatorId>>
    setRole(operatorId: OperatorId, role: OperatorRole): Effect.Effect<Operator, OperatorNotFound>
    /** Removes an operator, and closes their sessions and links. The name can be used again. */
    remove(operatorId: OperatorId): Effect.Effect<Operator, OperatorNotFound>
    /** Inserts a sign-in link, for a single use if `once`. Returns its expiry. */
    insertLink(
      operatorId: OperatorId,
      link: NewToken & { readonly once: boolean },
    ): Effect.Effect<Timestamp, OperatorNotFound>
    /** Finds a valid link without using it; undefined for an unknown, expired or used one. */
    findSignInLink(token: string): Effect.Effect<{ readonly operator: Operator; readonly once: boolean } | undefined>
    /** Inserts a session of the operator with a valid link, which is used, or with a name. A single-use link succeeds once. */
    beginSession(
      by: { readonly linkToken: string } | { readonly name: string },
      session: NewToken,
    ): Effect.Effect<Operator | undefined>
    /** Finds the operator of a session token, and records its use at most once a minute; undefined if it has ended. */
    findSession(
      token: string,
      options?: {
        /** Whether this counts as use of the session. Default true. */
        readonly isUse?: boolean
      },
    ): Effect.Effect<Operator | undefined>
    /** Lists an operator's open sessions, last used first. */
    listSessions(operatorId: OperatorId): Effect.Effect<ReadonlyArray<OperatorSession>>
    /** Closes an operator's open sessions, or one of them. Returns their number. */
    endSessions(operatorId: OperatorId, sessionId?: SessionId): Effect.Effect<number, SessionNotFound>
    endSession(token: string): Effect.Effect<void>
  }
>()("domain/operators/OperatorRepository") {}

/** Draws a token of 256 bits. */
const drawToken = Effect.map(randomBase62(43), (text) => Redacted.make(text))

export const addOperator = Effect.fn("Operators.addOperator")(function* (operator: Omit<Operator, "id">) {
  if (isUnboundPartner(operator)) return yield* new PartnerUnbound()
  return yield* (yield* OperatorRepository).insert({ ...operator, id: yield* createIdentifier("operator") })
})

/** Returns the operator of a partner with a name and a role. Adds it if there is none. */
export const findOrAddPartner = Effect.fn("Operators.findOrAddPartner")(function* (
  name: string,
  role: PartnerRole,
  organizationId: OrganizationId,
) {
  const operators = yield* OperatorRepository
  const known = (yield* operators.list).find(
    (each) =>
      each.removedAt === null && each.name === name && each.role === role && each.organizationId === organizationId,
  )
  return yield* known === undefined ? addOperator({ name, role, organizationId }) : operators.find(known.id)
})

/** Fails if the deployment would lose its last admin. Part of a transaction that waits for concurrent ones. */
const assertAdminLeft = Effect.fnUntraced(function* (operatorId: OperatorId) {
  const admins = yield* (yield* OperatorRepository).lockAdmins
  if (admins.length === 1 && admins[0] === operatorId) return yield* new LastAdmin({ operatorId })
})

/** Changes an operator's role, including their open sessions. The last admin of all organizations keeps the role. */
export const setOperatorRole = Effect.fn("Operators.setOperatorRole")(function* (
  operatorId: OperatorId,
  role: OperatorRole,
) {
  const operators = yield* OperatorRepository
  const { organizationId } = yield* operators.find(operatorId)
  if (isUnboundPartner({ role, organizationId })) return yield* new PartnerUnbound()
  if (role !== "admin") yield* assertAdminLeft(operatorId)
  return yield* operators.setRole(operatorId, role)
}, inTransaction)

/** Removes an operator, and closes their sessions and links, except the last admin of all organizations. */
export const removeOperator = Effect.fn("Operators.removeOperator")(function* (operatorId: OperatorId) {
  yield* assertAdminLeft(operatorId)
  return yield* (yield* OperatorRepository).remove(operatorId)
}, inTransaction)

/** Creates a sign-in link. Returns its token, which can't be read again. */
export const createSignInLink = Effect.fn("Operators.createSignInLink")(function* (
  operatorId: OperatorId,
  options: { readonly seconds: number; readonly once: boolean },
) {
  const token = yield* drawToken
  const expiresAt = yield* (yield* OperatorRepository).insertLink(operatorId, { token, ...options })
  return { token, expiresAt }
})

/**
 * Signs in with a link, or as the operator named by a trusted proxy; undefined for an unknown name, or an unknown, expired or used link. The
 * session's token can't be read again.
 */
export const signIn = Effect.fn("Operators.signIn")(function* (by: { linkToken: string } | { name: string }) {
  const token = yield* drawToken
  const operator = yield* (yield* OperatorRepository).beginSession(by, { token, seconds: SESSION_SECONDS })
  return operator && { operator, token }
})
