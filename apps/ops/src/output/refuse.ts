import { Effect } from "effect"

/** A failure that the operator can mend. */
export type Refusal = Error & { readonly _tag: string }

/** Describes a failure by a sentence. Scripts may read the tag, in snake case as the failure's `code`, and the details. */
export const refusal = (tag: string, sentence: string, details: object = {}): Refusal =>
  Object.assign(new Error(sentence), { _tag: tag, ...details })

export const refuse = (...failure: Parameters<typeof refusal>): Effect.Effect<never, Refusal> =>
  Effect.fail(refusal(...failure))
