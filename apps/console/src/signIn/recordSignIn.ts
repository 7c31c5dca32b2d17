import type { Operator } from "@outreach/domain/operators/Operator"
import type { Effect } from "effect"
import { audited } from "../http/audited.ts"

/** Records in the audit log that an operator signs in. */
export const recordSignIn = <A, E extends { readonly _tag: string }, R>(
  operator: Operator,
  signIn: Effect.Effect<A, E, R>,
) => audited("sign-in", { operator: operator.id }, { operator }, signIn)
