import { Result, Schema } from "effect"
import { expectedBy, parseInput, textSchema } from "../textSchema.ts"

// Glossary. Field: a column of an import file in addition to NPI and e-mail address, used only by templates.

/** Variables for the subject and body of every campaign, in addition to recipient fields. */
export interface TemplateVariables {
  readonly token: string
  readonly campaign_name: string
  readonly program_name: string
  /** Sender and postal address; only in programs that have them. */
  readonly sender_name?: string
  readonly postal_address?: string
  /** URL of the page on which the recipient unsubscribes. */
  readonly unsubscribe_url: string
  /** The partner's link with the recipient's token; only in campaigns that have one. */
  readonly short_link?: string
}

/** Sample values for checking templates before there are recipients. */
export const SAMPLE: TemplateVariables = {
  token: "aB3dE9",
  campaign_name: "Campaign",
  program_name: "Program",
  sender_name: "Sender",
  postal_address: "Postal address",
  unsubscribe_url: "https://outreach.test/unsubscribe/x",
}

/** Names of all variables. */
const VARIABLE_NAMES: ReadonlySet<string> = new Set([...Object.keys(SAMPLE), "short_link"])

/** Maximum size of a recipient's fields as UTF-8 JSON. */
const MAX_FIELDS_BYTES = 2048

/** Keywords of the template language, and columns with another meaning. */
const RESERVED_NAMES: ReadonlySet<string> = new Set(
  "npi email all and or not contains true false nil null empty blank in with for as by forloop tablerowloop".split(" "),
)

const FieldName = Schema.String.check(
  Schema.makeFilter((name) => {
    if (RESERVED_NAMES.has(name) || VARIABLE_NAMES.has(name)) return "the name has another meaning already"
    return (
      /^[a-z][a-z\d_]{0,39}$/.test(name) ||
      "the name is not 1 to 40 of the characters a to z, 0 to 9 and _, a letter first"
    )
  }),
).pipe(Schema.annotate({ expected: "a name such as first_name: a letter, and up to 39 of a to z, 0 to 9 and _" }))

const parseName = parseInput(FieldName)

/** Converts a column name to a field name (lower case, `_` for spaces, hyphens, dots and slashes), or returns why it isn't valid. */
export const fieldNameOf = (column: string): Result.Result<string, string> =>
  Result.mapError(
    parseName(
      column
        .trim()
        .toLowerCase()
        .replaceAll(/[ ./-]+/g, "_"),
    ),
    ({ reason }) => reason,
  )

export const FieldNames: Schema.Codec<ReadonlyArray<string>, string> = textSchema(
  `names of fields such as first_name,specialty; none of ${[...VARIABLE_NAMES].join(", ")}`,
  (text) => {
    const names = text.split(",").map(fieldNameOf)
    return names.every(Result.isSuccess) ? [...new Set(names.map(({ success }) => success))] : undefined
  },
)

/** Field names, or `all`. */
export const FieldNamesOrAll: Schema.Codec<ReadonlyArray<string> | "all", string> = Schema.Union([
  textSchema("all", (text) => (text === "all" ? ("all" as const) : undefined)),
  FieldNames,
]).annotate({ expected: `all, or ${expectedBy(FieldNames)}` })

/** Tabs and line ends are the only allowed control characters. A replacement character means invalid UTF-8. */
const NOT_TEXT = /[^\t\n\r\P{Cc}]|\uFFFD/u

const encoder = new TextEncoder()

/** A recipient's field values by name. Fields without a value are absent. */
export const RecipientFields = Schema.Record(Schema.String, Schema.String).check(
  Schema.makeFilter((fields) => {
    const broken = Object.entries(fields).find(([, value]) => NOT_TEXT.test(value))
    if (broken !== undefined) return `the field ${broken[0]} contains a control character, or isn't UTF-8`
    const bytes = encoder.encode(JSON.stringify(fields)).length
    return bytes <= MAX_FIELDS_BYTES || `the fields take ${bytes} bytes, and ${MAX_FIELDS_BYTES} is the most`
  }),
)
export type RecipientFields = typeof RecipientFields.Type
