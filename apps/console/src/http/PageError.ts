import { Schema } from "effect"

/** An error that an operator is shown in place of the answer of a page or an action. */
export class PageError extends Schema.TaggedError<PageError>()("PageError", {
  status: Schema.Int,
  title: Schema.String,
  messages: Schema.Array(Schema.String),
  retryAfterSeconds: Schema.optionalKey(Schema.Int),
}) {
  static of(status: number, title: string, ...messages: ReadonlyArray<string>): PageError {
    return new PageError({ status, title, messages })
  }

  static notFound(): PageError {
    return PageError.of(
      404,
      "Not found",
      "Nothing of this address is here, or it belongs to an organization that is not yours.",
    )
  }
}
