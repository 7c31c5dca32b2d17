/** A sentence whose parts between backticks are code. */
export const Prose = (props: { readonly children: string }) => (
  <>{props.children.split("`").map((part, i) => (i % 2 === 0 ? part : <code key={i}>{part}</code>))}</>
)
