import { Schema } from "effect"
import { DisplayName } from "../DisplayName.ts"
import type { OperatorId, OrganizationId } from "../Identifier.ts"

/** The roles, each of which may do what those before it may: a viewer reads, an operator changes what runs, an admin destroys and handles secrets. */
export const OPERATOR_ROLES = ["viewer", "operator", "admin"] as const
export const OperatorRole = Schema.Literals(OPERATOR_ROLES).annotate({ expected: OPERATOR_ROLES.join(", ") })
export type OperatorRole = typeof OperatorRole.Type

/** A person who may use the console. */
export interface Operator {
  readonly id: OperatorId
  readonly name: string
  readonly role: OperatorRole
  /** The one organization that the operator sees; null for all. */
  readonly organizationId: OrganizationId | null
}

/** An operator's name, by which a proxy's header and the audit log know the operator. */
export const OperatorName = DisplayName

/** Reports whether an operator of a role may do what needs another. */
export const mayActAs = (role: OperatorRole, needed: OperatorRole): boolean =>
  OPERATOR_ROLES.indexOf(role) >= OPERATOR_ROLES.indexOf(needed)

/** How long a sign-in link works, unless said otherwise: 24 hours. */
export const SIGN_IN_LINK_SECONDS = 24 * 3600
/** How long a session lasts without a request: 12 hours. */
export const SESSION_IDLE_SECONDS = 12 * 3600
/** How long a session lasts at most: 7 days. */
export const SESSION_SECONDS = 7 * 24 * 3600

/** No operator has this id, or the operator was removed. */
export class OperatorNotFound extends Schema.TaggedError<OperatorNotFound>()("OperatorNotFound", {
  operatorId: Schema.String,
}) {
  override get message(): string {
    return `No operator ${this.operatorId}, or the operator was removed.`
  }
}

/** Another operator has this name. */
export class OperatorNameTaken extends Schema.TaggedError<OperatorNameTaken>()("OperatorNameTaken", {
  name: Schema.String,
}) {
  override get message(): string {
    return `There is an operator ${this.name} already; choose another name, or remove that operator first.`
  }
}
