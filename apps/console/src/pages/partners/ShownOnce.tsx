import { Redacted } from "effect"
import type { ComponentChildren } from "preact"
import { LinkLine } from "../../components/layout.tsx"
import { CopyButton } from "../../components/values.tsx"

export const ShownOnce = (props: {
  readonly text: Redacted.Redacted
  /** The page of its creation. */
  readonly back: string
  readonly children: ComponentChildren
}) => (
  <>
    <p class="problem">This is shown only once. Save it now.</p>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
    <pre tabIndex={0}>
      <code>{Redacted.value(props.text)}</code>
    </pre>
    <CopyButton>{Redacted.value(props.text)}</CopyButton>
    {props.children}
    <LinkLine to={props.back}>I have saved it</LinkLine>
  </>
)
