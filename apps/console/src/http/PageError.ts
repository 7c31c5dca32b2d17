import type { TaggedFailure } from "@outreach/backoffice/operations/Operation"
import type { ChangedMeanwhile } from "@outreach/domain/ChangedMeanwhile"
import { Effect, Schema } from "effect"

/** An error shown to the operator instead of a page or an action's result. */
export class PageError extends Schema.TaggedError<PageError>()("PageError", {
  status: Schema.Int,
  title: Schema.String,
  messages: Schema.Array(Schema.String),
  /** The errors of single inputs by name. */
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
      "This page doesn't exist. The record may be erased or expired, or belong to an organization that you can't see.",
    )
  }
}

/** Fails with an error of the console itself. */
export const reject = (_tag: string, message: string): Effect.Effect<never, TaggedFailure> =>
  Effect.fail({ _tag, message })

type Values = Readonly<Record<string, string>>

/** Rejects a change from an outdated page, with the current values `now` and the `given` ones. */
export const rejectStale =
  <E1, R1>(now: Effect.Effect<Values, E1, R1>, given: Values) =>
  <A, E, R>(change: Effect.Effect<A, E | ChangedMeanwhile, R>) =>
    Effect.catchTag(
      change,
      "ChangedMeanwhile",
      Effect.fnUntraced(function* () {
        const values = yield* now
        const differences = Object.entries(given)
          .filter(([name, value]) => value !== values[name])
          .map(([name, value]) => ` ${name}: now ${values[name]}, yours ${value}.`)
        return yield* reject(
          "StaleForm",
          `Another operator changed this while the page was open, so your change wasn't saved.${differences.join("")} Reload the page and try again.`,
        )
      }),
    )
