import type { ComponentChildren } from "preact"

/** A command line that shows or does the same as the page. */
export const Command = (props: { readonly children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
  <pre class="command" tabIndex={0}>
    <code>{props.children}</code>
  </pre>
)
