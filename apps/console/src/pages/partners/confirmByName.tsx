import { DisplayName } from "@outreach/domain/DisplayName"
import { Effect } from "effect"
import { Field } from "../../components/forms.tsx"
import { foreign } from "../../components/values.tsx"
import { required } from "../../http/inputs.ts"
import { PageError } from "../../http/PageError.ts"

/** The fields of an action that destroys something: its name, which the operator types. */
export const confirmFields = { confirm: required(DisplayName) }

export const ConfirmField = (props: { readonly name: string; readonly hint?: string | undefined }) => (
  <Field name="confirm" label={foreign`Type ${props.name}`} required hint={props.hint} />
)

/** Fails unless the name that was typed is the one that is asked for. */
export const assertTyped = (typed: string, name: string): Effect.Effect<void, PageError> =>
  typed === name.trim()
    ? Effect.void
    : Effect.fail(PageError.of(400, "Not done", `What was typed is not “${name}”. Nothing was changed.`))
