import type { TaggedFailure } from "@outreach/backoffice/operations/Operation"
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
