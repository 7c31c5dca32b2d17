import { DisplayName } from "@outreach/domain/DisplayName"
import { Effect } from "effect"
import { PageError } from "../../http/PageError.ts"

/** The name that an operator types before something is destroyed. */
export const TypedName = DisplayName

/** Fails unless the name that was typed is the one that is asked for. */
export const assertTyped = (typed: string, name: string): Effect.Effect<void, PageError> =>
  typed === name.trim()
    ? Effect.void
    : Effect.fail(
        new PageError({
          status: 400,
          title: "Not done",
          messages: [`What was typed is not “${name}”. Nothing was changed.`],
        }),
      )
