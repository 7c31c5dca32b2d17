import type { ChangedMeanwhile } from "@outreach/domain/ChangedMeanwhile"
import { Effect, Schema } from "effect"

type Values = Readonly<Record<string, string>>

/** A form was made from values that somebody has changed since. */
class StaleForm extends Schema.TaggedError<StaleForm>()("StaleForm", {
  now: Schema.Record(Schema.String, Schema.String),
  given: Schema.Record(Schema.String, Schema.String),
}) {
  override get message(): string {
    const differences = Object.entries(this.given)
      .filter(([name, value]) => value !== this.now[name])
      .map(([name, value]) => `${name}: it is ${this.now[name]}, and you gave ${value}.`)
    return [
      "Somebody changed this after its page was opened, so nothing was done.",
      ...differences,
      "Open the page again.",
    ].join(" ")
  }
}

/** Answers a change that was made from an old page with the values that hold `now`, and those that were `given`. */
export const refuseStale =
  <E1, R1>(now: Effect.Effect<Values, E1, R1>, given: Values) =>
  <A, E, R>(change: Effect.Effect<A, E | ChangedMeanwhile, R>) =>
    Effect.catchTag(change, "ChangedMeanwhile", () => Effect.flatMap(now, (now) => new StaleForm({ now, given })))
