import type { ChangedMeanwhile } from "@outreach/domain/ChangedMeanwhile"
import { Effect, Schema } from "effect"

/** An error that an operator is shown in place of the answer of a page or an action. */
export class PageError extends Schema.TaggedError<PageError>()("PageError", {
  status: Schema.Int,
  title: Schema.String,
  messages: Schema.Array(Schema.String),
  /** What is wrong with single inputs, by their names. */
  faults: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  retryAfterSeconds: Schema.optionalKey(Schema.Int),
}) {
  static of(status: number, title: string, ...messages: ReadonlyArray<string>): PageError {
    return new PageError({ status, title, messages })
  }

  static notFound(): PageError {
    return PageError.of(
      404,
      "Not found",
      "Nothing of this address is here: it may be erased, past its retention, or of an organization that is not yours.",
    )
  }
}

/** An error that the operator is shown; a tag that ends in `NotFound` is answered with 404. The audit log records the tag. */
export interface Refusal {
  readonly _tag: string
  readonly message: string
}

/** Fails with an error that is the console's own. */
export const refuse = (_tag: string, message: string): Effect.Effect<never, Refusal> => Effect.fail({ _tag, message })

/** Refuses a change that was made from a page of an earlier version of the record. */
export const refuseChanged = (version: string, now: string): Effect.Effect<void, Refusal> =>
  version === "" || version === now
    ? Effect.void
    : refuse(
        "StaleForm",
        "Somebody changed this after its page was opened, so nothing was done. Compare what you typed with what stands on the page now, and send it again.",
      )

type Values = Readonly<Record<string, string>>

/** Refuses a change that was made from an old page, with the values that hold `now` and those that were `given`. */
export const refuseStale =
  <E1, R1>(now: Effect.Effect<Values, E1, R1>, given: Values) =>
  <A, E, R>(change: Effect.Effect<A, E | ChangedMeanwhile, R>) =>
    Effect.catchTag(
      change,
      "ChangedMeanwhile",
      Effect.fnUntraced(function* () {
        const values = yield* now
        const differences = Object.entries(given)
          .filter(([name, value]) => value !== values[name])
          .map(([name, value]) => ` ${name}: it is ${values[name]}, and you gave ${value}.`)
        return yield* refuse(
          "StaleForm",
          `Somebody changed this after its page was opened, so nothing was done.${differences.join("")} Open the page again.`,
        )
      }),
    )
