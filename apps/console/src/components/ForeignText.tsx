import type { ComponentChildren } from "preact"

/** More than names, subjects and replies have. */
const MAX_CHARACTERS = 1000

/**
 * Text that a partner, a mail server or a person wrote. It is isolated, so that its direction changes none of the words beside it, and bounded in
 * length. The renderer makes its control characters visible, as those of the whole page.
 */
export const ForeignText = (props: { readonly children: string }) => {
  const text = props.children
  return <bdi>{text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text}</bdi>
}

/** Foreign text of many lines, such as the body of a request, in a box that scrolls. It is shown whole. */
export const ForeignBlock = (props: { readonly children: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
  <pre tabIndex={0}>
    <bdi>{props.children}</bdi>
  </pre>
)

/** Isolates what is nothing but text, because it may be foreign. */
export const isolated = (content: ComponentChildren): ComponentChildren =>
  typeof content === "string" ? <ForeignText>{content}</ForeignText> : content
