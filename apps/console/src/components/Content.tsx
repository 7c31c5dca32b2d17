import { maskContent } from "@outreach/domain/inbox/maskContent"
import { ForeignBlock } from "./values.tsx"

/** What was sent or received, indented if it is JSON. Unless `isShown`, values that may be personal are masked. */
export const Content = (props: { readonly isShown: boolean; readonly children: string }) => {
  const content = props.isShown ? parsed(props.children) : maskContent(props.children)
  return <ForeignBlock>{typeof content === "string" ? content : JSON.stringify(content, null, 2)}</ForeignBlock>
}

const parsed = (text: string): unknown => {
  try {
    const content: unknown = JSON.parse(text)
    return typeof content === "string" ? text : content
  } catch {
    return text
  }
}
