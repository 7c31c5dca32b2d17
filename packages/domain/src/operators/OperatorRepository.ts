import { Context, type Effect, type Redacted } from "effect"
import type { OperatorId, SessionId } from "../Identifier.ts"
import type { OrganizationNotFound } from "../organizations/Organization.ts"
import type { Timestamp } from "../Timestamp.ts"
import type {
  ListedOperator,
  Operator,
  OperatorNameTaken,
  OperatorNotFound,
  OperatorRole,
  OperatorSession,
  SessionNotFound,
} from "./Operator.ts"

/** A token to store, and its lifetime. */
export interface NewToken {
  readonly token: Redacted.Redacted
  readonly seconds: number
}

/** Stores operators, sign-in links and sessions; only SHA-256 hashes of tokens. */
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
