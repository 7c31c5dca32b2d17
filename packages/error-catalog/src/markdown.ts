import type { ErrorCatalog } from "./ErrorCatalog.ts"
import type { ErrorCodes, ErrorTypes, Retry } from "./ErrorCodes.ts"

/** Options of `markdown`. */
export interface MarkdownOptions<Code extends string = string> {
  /** Renders only the table of types, the index of codes, or the code sections. Default: all, with headings. */
  readonly part?: "types" | "index" | "codes"
  /** Returns the anchor of a code's section. Default: the code. */
  readonly anchor?: (code: Code) => string
  /** Changes or adds rows of a code's section, as a map from name to Markdown. */
  readonly rows?: (code: Code, rows: Readonly<Record<string, string>>) => Readonly<Record<string, string>>
}

const RETRY = {
  no: "No: something has to change first",
  after: "Yes, once Retry-After has passed",
  backoff: "Yes, with exponential backoff",
} as const satisfies Record<Retry, string>

/** Renders the catalog's reference page in Markdown, or one part of it. */
export function markdown<Codes extends ErrorCodes>(
  catalog: Pick<ErrorCatalog<ErrorTypes, Codes>, "types" | "codes">,
  options: MarkdownOptions<keyof Codes & string> = {},
): string {
  const { part, anchor = (code) => code, rows = (_, all) => all } = options as MarkdownOptions
  const { types, codes } = catalog
  const names = Object.keys(codes)
  const typeRow = (type: string): string => {
    const statuses = names.filter((code) => codes[code]!.type === type).map((code) => codes[code]!.status)
    return `| \`${type}\` | ${[...new Set(statuses)].sort().join(", ")} | ${RETRY[types[type]!.retry]} |`
  }
  const section = (code: string): string => {
    const { type, status, title, description = title, advice } = codes[code]!
    const all = rows(code, {
      Status: `${status}`,
      Type: `\`${type}\``,
      Retry: RETRY[types[type]!.retry],
      When: description,
      ...(advice && { "What to do": advice }),
    })
    const items = Object.entries(all).map(([name, text]) => `- **${name}**: ${text.replace(/\s+/g, " ")}`)
    return [`### <a id="${anchor(code)}"></a>\`${code}\`\n`, ...items].join("\n")
  }
  const parts = {
    types: ["| type | status | retry |", "| --- | --- | --- |", ...Object.keys(types).map(typeRow)].join("\n"),
    index: names.map((code) => `- [${code}](#${anchor(code)})`).join("\n"),
    codes: names.map(section).join("\n\n"),
  }
  if (part) return parts[part]
  return `## Types

Branch on the type, so that you also handle codes that are added later.

${parts.types}

## Codes

${parts.index}

${parts.codes}
`
}
