import { Effect, Redacted } from "effect"
import { createIdentifier, type OperatorId, type OrganizationId } from "../Identifier.ts"
import { randomBase62 } from "../randomBase62.ts"
import { inTransaction } from "../Transaction.ts"
import {
  isUnboundPartner,
  LastAdmin,
  type Operator,
  type OperatorRole,
  PartnerUnbound,
  SESSION_SECONDS,
} from "./Operator.ts"
import { OperatorRepository } from "./OperatorRepository.ts"

/** Draws a token of 256 bits. */
const drawToken = Effect.map(randomBase62(43), (text) => Redacted.make(text))

export const addOperator = Effect.fn("Operators.addOperator")(function* (operator: Omit<Operator, "id">) {
  if (isUnboundPartner(operator)) return yield* new PartnerUnbound()
  return yield* (yield* OperatorRepository).insert({ ...operator, id: yield* createIdentifier("operator") })
})

/** Returns the partner of an organization with a name. Adds it if there is none. */
export const findOrAddPartner = Effect.fn("Operators.findOrAddPartner")(function* (
  name: string,
  organizationId: OrganizationId,
) {
  const operators = yield* OperatorRepository
  const known = (yield* operators.list).find(
    (each) =>
      each.removedAt === null &&
      each.name === name &&
      each.role === "partner" &&
      each.organizationId === organizationId,
  )
  return yield* known === undefined ? addOperator({ name, role: "partner", organizationId }) : operators.find(known.id)
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
