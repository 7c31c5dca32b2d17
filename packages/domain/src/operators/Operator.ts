import { Schema, Struct } from "effect"
import { DescribedError } from "../DescribedError.ts"
import { OperatorId, OrganizationId, SessionId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"

/**
 * Roles of the deployment's staff, each including the earlier ones: viewers read, operators change, admins
 * delete and handle secrets.
 */
export const STAFF_ROLES = ["viewer", "operator", "admin"] as const
export type StaffRole = (typeof STAFF_ROLES)[number]

/**
 * Roles of a partner's staff, with the equivalent staff role. They belong to one organization, and may use only what is declared for
 * partners and what the equivalent role may use.
 */
const STAFF_ROLE_OF = { partner: "operator", "partner-admin": "admin" } as const satisfies Record<string, StaffRole>
export const PARTNER_ROLES = Struct.keys(STAFF_ROLE_OF)
export type PartnerRole = (typeof PARTNER_ROLES)[number]

export const OPERATOR_ROLES = [...STAFF_ROLES, ...PARTNER_ROLES] as const
export const OperatorRole = Schema.Literals(OPERATOR_ROLES).annotate({ expected: OPERATOR_ROLES.join(", ") })
export type OperatorRole = typeof OperatorRole.Type

export const Operator = Schema.Struct({
  id: OperatorId,
  /** As used in a proxy's header and the audit log. */
  name: Schema.String,
  role: OperatorRole,
  /** The only organization that the operator sees; null for all. */
  organizationId: Schema.NullOr(OrganizationId),
})
export type Operator = typeof Operator.Type

export const ListedOperator = Schema.Struct({
  ...Operator.fields,
  createdAt: Timestamp,
  removedAt: Schema.NullOr(Timestamp),
  sessions: Schema.Int,
  /** Last use of an open session, to the minute. */
  lastUsedAt: Schema.NullOr(Timestamp),
})
export type ListedOperator = typeof ListedOperator.Type

/** An open session of an operator, without its token. */
export const OperatorSession = Schema.Struct({
  id: SessionId,
  createdAt: Timestamp,
  /** To the minute. */
  lastUsedAt: Timestamp,
  /** Absolute expiry. */
  expiresAt: Timestamp,
})
export type OperatorSession = typeof OperatorSession.Type

const isPartnerRole = (role: OperatorRole): role is PartnerRole => role in STAFF_ROLE_OF

/** Returns whether an operator belongs to a partner's staff. */
export const isPartner = ({ role }: Pick<Operator, "role">): boolean => isPartnerRole(role)

const includes = (role: StaffRole, needed: StaffRole): boolean =>
  STAFF_ROLES.indexOf(role) >= STAFF_ROLES.indexOf(needed)

/** Returns whether a role is one of the deployment's staff that includes another. */
export const mayActAs = (role: OperatorRole, needed: StaffRole): boolean =>
  !isPartnerRole(role) && includes(role, needed)

/** Who may use a page or action: staff with a role, and partners with the equivalent role only if allowed. */
export interface Access {
  readonly role: StaffRole
  readonly forPartners?: boolean
}

export const mayUse = (operator: Operator, { role, forPartners = false }: Access): boolean =>
  isPartnerRole(operator.role)
    ? forPartners && !isUnboundPartner(operator) && includes(STAFF_ROLE_OF[operator.role], role)
    : mayActAs(operator.role, role)

/** Returns whether an operator has a partner's role without an organization, which isn't allowed. */
export const isUnboundPartner = ({ role, organizationId }: Pick<Operator, "role" | "organizationId">): boolean =>
  isPartnerRole(role) && organizationId === null

export const SESSION_IDLE_SECONDS = 12 * 3600
export const SESSION_SECONDS = 7 * 24 * 3600

export class OperatorNotFound extends DescribedError(
  "OperatorNotFound",
  "No operator {operatorId}, or the operator was removed.",
) {}

export class SessionNotFound extends DescribedError(
  "SessionNotFound",
  "No open session {sessionId} of operator {operatorId}; it may have expired.",
) {}

export class LastAdmin extends DescribedError(
  "LastAdmin",
  "{operatorId} is the last admin of all organizations, which is required to manage operators in the console. Add another admin first.",
) {}

export class PartnerUnbound extends DescribedError(
  "PartnerUnbound",
  "An operator with the role of a partner must belong to one organization. Add one with its organization.",
) {}

export class OperatorNameTaken extends DescribedError(
  "OperatorNameTaken",
  "There is an operator {name} already; choose another name, or remove that operator first.",
) {}
