import { readFileSync } from "node:fs"

/** A request to show as code. A body is sent as JSON, and signed if there is a secret. */
export interface SampleRequest {
  readonly url: string
  readonly query: ReadonlyArray<readonly [name: string, value: string]>
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly secret?: string
}

interface Language {
  readonly title: string
  /** Of its files; `requests/request.<extension>.template` is its code. */
  readonly extension: string
  /** Writes printable ASCII as a literal. Default: as in JSON. */
  readonly quote?: (text: string) => string
  /** Writes JSON between the delimiters of the template. Default: unchanged. */
  readonly quoteJson?: (text: string) => string
}

const quoteShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
const indent = (text: string): string => text.replaceAll(/^/gm, " ".repeat(12))

const LANGUAGES: ReadonlyArray<Language> = [
  { title: "curl", extension: "sh", quote: quoteShell, quoteJson: quoteShell },
  { title: "JavaScript", extension: "mjs" },
  { title: "Python", extension: "py" },
  { title: "Go", extension: "go", quoteJson: (text) => text.replaceAll("`", "\\u0060") },
  { title: "Java", extension: "java", quoteJson: (text) => indent(text.replaceAll("\\", "\\\\")) },
  { title: "PHP", extension: "php", quote: (text) => JSON.stringify(text).replaceAll("$", "\\$") },
  { title: "Ruby", extension: "rb", quote: (text) => JSON.stringify(text).replaceAll("#", "\\#") },
]

/** Returns the text. Throws for characters that languages escape in different ways, or that reorder a line. */
const assertPrintable = (text: string): string => {
  if (/[^ -~]/.test(text)) throw new Error(`only the body of a sample may contain ${JSON.stringify(text)}: use ASCII`)
  return text
}

/** Writes a value as JSON in ASCII. It has no three quotes in a row, and no line starts with a letter, as the end of a here-document does. */
const jsonOf = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(
    /[^\n -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )

type Row = Readonly<Record<string, string | undefined>>

/**
 * Renders a request by a language's template. A line that starts with `@` and a word is only for some requests: `@plain` has no headers and
 * no body, `@get` has no body, `@post` has one and is `@signed` or `@unsigned`, and `@headers` has headers. `@header` lines and, without a body,
 * `@query` lines are repeated. Names in guillemets are values.
 */
const render = (
  { extension, quote = JSON.stringify, quoteJson = String }: Language,
  request: SampleRequest,
): string => {
  const template = readFileSync(new URL(`requests/request.${extension}.template`, import.meta.url), "utf8")
  const { url, query, body, secret } = request
  const isPost = body !== undefined
  const headers = Object.entries({ ...request.headers, ...(isPost && { "Content-Type": "application/json" }) })
  const parameters = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&")
  const values: Row = { base: url, url: parameters === "" ? url : `${url}?${parameters}`, secret }
  const when = (applies: boolean): ReadonlyArray<Row> => (applies ? [values] : [])
  const rows: Readonly<Record<string, ReadonlyArray<Row>>> = {
    plain: when(!isPost && headers.length === 0),
    get: when(!isPost && headers.length > 0),
    post: when(isPost),
    signed: when(secret !== undefined),
    unsigned: when(isPost && secret === undefined),
    headers: when(headers.length > 0),
    header: headers.map(([name, value]) => ({ name, value, header: `${name}: ${value}` })),
    query: (isPost ? [] : query).map(([name, value]) => ({ parameter: `${name}=${value}` })),
  }
  const lines = template
    .trimEnd()
    .split("\n")
    .flatMap((line) => {
      const [, kind = "", code = line] = /^@(\w+) ?(.*)$/.exec(line) ?? []
      return (kind === "" ? [values] : rows[kind]!).map((row) =>
        code.replaceAll(/«(\w+)»/g, (_, name: string) =>
          name === "json" ? quoteJson(jsonOf(body)) : quote(assertPrintable(row[name]!)),
        ),
      )
    })
  return lines.join("\n").replace(/ \\$/, "")
}

/** Renders a request in each language, with the file's name. The code prints the response's status (except curl) and body. */
export const samplesOf = (name: string, request: SampleRequest) =>
  LANGUAGES.map((language) => ({
    title: language.title,
    file: `${name}.${language.extension}`,
    code: render(language, request),
  }))
