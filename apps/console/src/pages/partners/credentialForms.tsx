import { DisplayName } from "@outreach/domain/DisplayName"
import { Effect, Redacted } from "effect"
import type { ComponentChildren } from "preact"
import { LinkLine } from "../../components/layout.tsx"
import { foreign } from "../../components/values.tsx"
import { field, required } from "../../http/inputs.ts"
import { PageError } from "../../http/PageError.ts"

export const ShownOnce = (props: {
  readonly text: Redacted.Redacted
  /** The page that it was made on. */
  readonly back: string
  readonly children: ComponentChildren
}) => (
  <>
    <p class="problem">This is shown once. Keep it now: nobody can read it again.</p>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
    <pre tabIndex={0}>
      <code>{Redacted.value(props.text)}</code>
    </pre>
    {props.children}
    <LinkLine to={props.back}>I have kept it</LinkLine>
  </>
)

/** The inputs of an action that destroys something: its name, which the operator types. */
export const confirmFields = { confirm: required(field(DisplayName, "Name")) }

export const confirmBy = (name: string, hint?: string) => ({ confirm: { label: foreign`Type ${name}`, hint } })

export const assertTyped = (typed: string, name: string): Effect.Effect<void, PageError> =>
  typed === name.trim()
    ? Effect.void
    : Effect.fail(PageError.of(400, "Not done", `What was typed is not “${name}”. Nothing was changed.`))
