import { Schema } from "effect"

/** What an operator is shown in place of a page, or of what an action would have answered. */
export class PageError extends Schema.TaggedError<PageError>()("PageError", {
  status: Schema.Int,
  title: Schema.String,
  /** Sentences that say what is wrong and what to do. */
  messages: Schema.Array(Schema.String),
  retryAfterSeconds: Schema.optionalKey(Schema.Int),
}) {
  static notFound(): PageError {
    return new PageError({
      status: 404,
      title: "Not found",
      messages: ["Nothing of this address is here, or it belongs to an organization that is not yours."],
    })
  }
}
