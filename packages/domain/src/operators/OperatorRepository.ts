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

/** A token that is about to be kept, and for how long it works. */
export interface NewToken {
  readonly token: Redacted.Redacted
  readonly seconds: number
}

/** Keeps operators, their sign-in links and their sessions; of tokens only SHA-256 hashes. */
export class OperatorRepository extends Context.Service<
  OperatorRepository,
  {
    insert(operator: Operator): Effect.Effect<Operator, OrganizationNotFound | OperatorNameTaken>
    /** All operators, also removed ones, oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<ListedOperator>>
    find(operatorId: OperatorId): Effect.Effect<Operator, OperatorNotFound>
    /** Lists the admins of all organizations, and keeps others from changing them. Part of a transaction. */
    readonly lockAdmins: Effect.Effect<ReadonlyArray<OperatorId>>
    setRole(operatorId: OperatorId, role: OperatorRole): Effect.Effect<Operator, OperatorNotFound>
    /** Removes an operator, and ends the operator's sessions and links. The name is free again. */
    remove(operatorId: OperatorId): Effect.Effect<Operator, OperatorNotFound>
    /** Inserts a sign-in link; `once` if its first use is its last. Returns when it expires. */
    insertLink(
      operatorId: OperatorId,
      link: NewToken & { readonly once: boolean },
    ): Effect.Effect<Timestamp, OperatorNotFound>
    /** Finds a link that can be used, without using it; undefined for an unknown, expired or used one. */
    findSignInLink(token: string): Effect.Effect<{ readonly operator: Operator; readonly once: boolean } | undefined>
    /** Uses a link that can be used, and inserts a session of its operator. Of concurrent uses of a link for one use, one succeeds. */
    beginSession(linkToken: string, session: NewToken): Effect.Effect<Operator | undefined>
    /** Inserts a session of the operator of a name; undefined if no operator has it. */
    beginSessionOf(name: string, session: NewToken): Effect.Effect<Operator | undefined>
    /** Finds whose session a token is, and notes the use, at most once a minute; undefined if it has ended. */
    findSession(
      token: string,
      options?: {
        /** Whether somebody uses the session, so that it is not idle. Default true. */
        readonly isUse?: boolean
      },
    ): Effect.Effect<Operator | undefined>
    /** Lists an operator's open sessions, the last used first. */
    listSessions(operatorId: OperatorId): Effect.Effect<ReadonlyArray<OperatorSession>>
    /** Ends an operator's open sessions, or one of them; returns how many. */
    endSessions(operatorId: OperatorId, sessionId?: SessionId): Effect.Effect<number, SessionNotFound>
    endSession(token: string): Effect.Effect<void>
    /** Deletes links and sessions that are over, some of each. */
    readonly deleteExpired: Effect.Effect<void>
  }
>()("domain/operators/OperatorRepository") {}
