import { textSchema } from "../../textSchema.ts"

/** Maximum bytes of a part of a campaign's body. */
export const MAX_TEMPLATE_BYTES = 1_048_576

const encoder = new TextEncoder()

/** HTML or text of a campaign's body, before it is parsed as a template. Lines end with line feeds. */
export const TemplateText = textSchema("a text of at most 1 MiB", (text) => {
  if (text.trim() === "") throw new RangeError("it is blank")
  if (text.includes("\0")) throw new RangeError("it is not text in UTF-8")
  if (encoder.encode(text).length > MAX_TEMPLATE_BYTES) throw new RangeError("it exceeds 1 MiB")
  return text.replaceAll("\r\n", "\n")
})
