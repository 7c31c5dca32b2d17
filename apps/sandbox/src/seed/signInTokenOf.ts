import { OperatorRepository } from "@outreach/domain/operators/OperatorRepository"
import { addOperator, createSignInLink } from "@outreach/domain/operators/Operators"
import { Effect, Redacted } from "effect"

/** The name of the operator that the sandbox's link signs in. */
const NAME = "Sandbox"

/** As long as a sandbox may run. */
const LINK_SECONDS = 365 * 86_400

/** Returns the token of a link that signs in as an admin any number of times: that of an earlier run if it still works. */
export const signInTokenOf = Effect.fnUntraced(function* (earlier: string | undefined) {
  const operators = yield* OperatorRepository
  if (earlier !== undefined && (yield* operators.findSignInLink(earlier)) !== undefined) return earlier
  const known = (yield* operators.list).find(({ name, removedAt }) => name === NAME && removedAt === null)
  const { id } = known ?? (yield* addOperator({ name: NAME, role: "admin", organizationId: null }))
  return Redacted.value((yield* createSignInLink(id, { seconds: LINK_SECONDS, once: false })).token)
})
