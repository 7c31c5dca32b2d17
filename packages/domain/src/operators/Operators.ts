import { Effect, Redacted } from "effect"
import { createIdentifier, type OperatorId } from "../Identifier.ts"
import { randomBase62 } from "../randomBase62.ts"
import { isUnboundPartner, type Operator, type OperatorRole, PartnerUnbound, SESSION_SECONDS } from "./Operator.ts"
import { OperatorRepository } from "./OperatorRepository.ts"

/** Draws a token of 256 bits. */
const drawToken = Effect.map(randomBase62(43), (text) => Redacted.make(text))

export const addOperator = Effect.fn("Operators.addOperator")(function* (operator: Omit<Operator, "id">) {
  if (isUnboundPartner(operator)) return yield* new PartnerUnbound()
  return yield* (yield* OperatorRepository).insert({ ...operator, id: yield* createIdentifier("operator") })
})

/** Gives an operator another role, also in the sessions that are open. */
export const setOperatorRole = Effect.fn("Operators.setOperatorRole")(function* (
  operatorId: OperatorId,
  role: OperatorRole,
) {
  const operators = yield* OperatorRepository
  const { organizationId } = yield* operators.find(operatorId)
  if (isUnboundPartner({ role, organizationId })) return yield* new PartnerUnbound()
  return yield* operators.setRole(operatorId, role)
})

/** Creates a sign-in link and returns its token, which is seen only now. */
export const createSignInLink = Effect.fn("Operators.createSignInLink")(function* (
  operatorId: OperatorId,
  options: { readonly seconds: number; readonly once: boolean },
) {
  const token = yield* drawToken
  const expiresAt = yield* (yield* OperatorRepository).insertLink(operatorId, { token, ...options })
  return { token, expiresAt }
})

/** Signs in with a link; undefined for an unknown, expired or used one. The session's token is seen only now. */
export const signIn = Effect.fn("Operators.signIn")(function* (linkToken: string) {
  const token = yield* drawToken
  const operator = yield* (yield* OperatorRepository).beginSession(linkToken, { token, seconds: SESSION_SECONDS })
  return operator && { operator, token }
})

/** Signs in the operator that a trusted proxy names; undefined if no operator has this name. */
export const signInByName = Effect.fn("Operators.signInByName")(function* (name: string) {
  const token = yield* drawToken
  const operator = yield* (yield* OperatorRepository).beginSessionOf(name, { token, seconds: SESSION_SECONDS })
  return operator && { operator, token }
})
