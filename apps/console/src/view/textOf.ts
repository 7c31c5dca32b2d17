import type { ComponentChildren } from "preact"

/** Returns the text of strings, fragments and foreign text. */
export const textOf = (content: ComponentChildren): string => {
  if (typeof content === "string") return content
  if (Array.isArray(content)) return content.map(textOf).join("")
  return typeof content === "object" && content !== null && "props" in content ? textOf(content.props.children) : ""
}
