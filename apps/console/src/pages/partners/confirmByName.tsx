import { DisplayName } from "@outreach/domain/DisplayName"
import { Effect } from "effect"
import { foreign } from "../../components/values.tsx"
import { field, required } from "../../http/inputs.ts"
import { PageError } from "../../http/PageError.ts"

/** The inputs of an action that destroys something: its name, which the operator types. */
export const confirmFields = { confirm: required(field(DisplayName, "Name")) }

export const confirmBy = (name: string, hint?: string) => ({ confirm: { label: foreign`Type ${name}`, hint } })

/** Fails unless the name that was typed is the one that is asked for. */
export const assertTyped = (typed: string, name: string): Effect.Effect<void, PageError> =>
  typed === name.trim()
    ? Effect.void
    : Effect.fail(PageError.of(400, "Not done", `What was typed is not “${name}”. Nothing was changed.`))
