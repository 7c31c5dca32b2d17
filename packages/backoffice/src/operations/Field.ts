import { outboundEventTypes } from "@outreach/domain/events/outgoingEvents"
import { CampaignId, EndpointId, FailureGroupId, OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { Instant, orAgo, PastInstant } from "@outreach/domain/Timestamp"
import { commaSeparated, expectedBy, parseInput, textSchema, wholeNumber } from "@outreach/domain/textSchema"
import { Record, Result, Schema } from "effect"
import { MIN_PART, SearchTerm } from "../operators/SearchTerm.ts"

/** A schema that parses text. */
export type Codec<A> = Schema.Codec<A, string>

/** A value of a choice, optionally with a label. */
export type Option<Value extends string = string> =
  | Value
  | readonly [value: Value, text: string]
  | { readonly id: Value; readonly name: string }

/** How people enter a value: as an input of a form, and as a flag of a command. */
export interface Control {
  /**
   * Default `text`. An `instant` is entered in the viewer's zone, without scripts in UTC. A `switch` is a flag without a value: a choice of its
   * two options, or without options a check box.
   */
  readonly kind?: "text" | "lines" | "choice" | "boxes" | "switch" | "date" | "instant" | "file"
  readonly label: string
  /** The input's part of a long form, next to its neighbours. */
  readonly group?: string
  /** The format of the value, shown below the input and in the help. */
  readonly hint?: string | undefined
  /** A valid value, for the help. */
  readonly example?: string
  /** The initial value, and the flag's default. */
  readonly value?: unknown
  readonly options?: ReadonlyArray<Option>
  /** The label for no choice. Without it, a choice is required. */
  readonly all?: string
  /** The keyboard of a telephone. Default `text`. */
  readonly inputmode?: "numeric" | "email" | "url"
  readonly required?: boolean
  /** Whether the command has an argument for it, instead of a flag. */
  readonly isArgument?: true
  /** Whether the command accepts several. A form has one input for all of them, separated by commas. */
  readonly isRepeated?: true
  readonly placeholder?: string
  readonly size?: number
  readonly maxLength?: number
  /** The preferred file types. */
  readonly accept?: string
}

type Details = Omit<Control, "label">

/** A value of a query or a form. */
export interface Input<A, IsRequired extends boolean> {
  readonly schema: Codec<A>
  readonly isRequired: IsRequired
  readonly control?: Control
}

/** A value that an operator enters. */
export interface Field<A, IsRequired extends boolean = false> extends Input<A, IsRequired> {
  readonly control: Control
}

// biome-ignore lint/suspicious/noExplicitAny: a codec is not covariant.
export type AnyField = Field<any, boolean>

/** Fields by the domain's name of their values. */
export type Fields = Readonly<Record<string, AnyField>>

/** The values of fields. Fields that aren't required are optional. */
export type ValuesOf<F> = { readonly [K in RequiredKey<F>]: ValueOf<F[K]> } & {
  readonly [K in Exclude<keyof F, RequiredKey<F>>]?: ValueOf<F[K]>
}
type RequiredKey<F> = { [K in keyof F]: F[K] extends Field<infer _, true> ? K : never }[keyof F]
type ValueOf<F> = F extends Field<infer A, boolean> ? A : never

/** The filter of a list with these fields. */
export type FilterOf<F> = { readonly [K in keyof F]?: ValueOf<F[K]> | undefined }

export const field = <A>(schema: Codec<A>, label: string, details: Details = {}): Field<A> => ({
  schema,
  isRequired: false,
  control: { label, ...details },
})

/** Declares a choice from a list of words. */
export const choice = <const Value extends string>(
  label: string,
  options: ReadonlyArray<Value | readonly [value: Value, text: string]>,
  details: Details = {},
): Field<Value> =>
  field(oneOf(options.map((option) => (typeof option === "string" ? option : option[0]))), label, {
    kind: "choice",
    options,
    ...details,
  })

/** Declares a choice of several words. */
export const checkBoxes = <const Value extends string>(
  label: string,
  values: ReadonlyArray<Value>,
  details: Details = {},
): Field<ReadonlyArray<Value>> => field(commaSeparated(values), label, { kind: "boxes", options: values, ...details })

export const oneOf = <const Words extends ReadonlyArray<string>>(words: Words) =>
  Schema.Literals(words).annotate({ expected: `one of ${words.join(", ")}` })

const YesOrNo = textSchema("yes or no", (text) =>
  ["yes", "true"].includes(text) ? true : ["no", "false"].includes(text) ? false : undefined,
)

/** Declares a choice between two states: a flag, and its form `--no-…`. */
export const yesOrNo = (label: string, yes: string, no: string, details: Details = {}): Field<boolean> =>
  field(YesOrNo, label, {
    kind: "switch",
    options: [
      ["yes", yes],
      ["no", no],
    ],
    ...details,
  })

/** Declares a check box, which is a flag without a value. */
export const checkBox = (label: string, details: Details = {}): Field<boolean> =>
  field(YesOrNo, label, { kind: "switch", ...details })

/** Declares a list of values, for each of which a command has a flag or an argument. */
export const repeated = <A>({ schema, control: { label, ...details } }: Field<A>): Field<ReadonlyArray<A>> => {
  const parse = parseInput(schema)
  const all = textSchema(`one or more, separated by commas: ${expectedBy(schema)}`, (text) => {
    return Result.getOrUndefined(Result.all(text.split(",").map((part) => parse(part.trim()))))
  })
  return field(all, label, { ...details, isRepeated: true })
}

/** Declares a form's file; its value is the file's name. No other form accepts a file. */
export const file = (label: string, details: Omit<Details, "kind"> = {}): Field<string> =>
  field(Schema.String.annotate({ expected: "a file" }), label, { kind: "file", ...details })

/** Declares a field, or a value without a control, as required. */
export const required: {
  <A>(input: Field<A, boolean>): Field<A, true>
  <A>(input: Codec<A>): Input<A, true>
} = (input: Codec<unknown> | Field<unknown, boolean>) =>
  ("isRequired" in input ? { ...input, isRequired: true } : { schema: input, isRequired: true }) as never

/** Declares a field that has a value if none is given. */
export const withDefault = <A>(input: Field<A, boolean>, value: string): Field<A, true> => ({
  ...required(input),
  control: { ...input.control, value },
})

/** The name of a field in a form, and of its flag: `sender-name`, and for an id `organization`. */
export const fieldName = (key: string): string =>
  key.replace(/Id$/, "").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Returns the start of the ids of a schema, such as `org_…`; undefined if it has no ids. */
export const prefixOf = (schema: Schema.Constraint): string | undefined => {
  const [, prefix] = /: ([a-z]{3}_) and 32 hex digits$/.exec(expectedBy(schema)) ?? []
  return prefix && `${prefix}…`
}

export const isOptional = ({ isRequired, control: { required } }: AnyField): boolean => !isRequired && !required

/** Returns an example of each field without which its command fails, by key. */
export const examplesOf = (fields: Fields): Readonly<Record<string, string>> =>
  Record.map(
    Record.filter(fields, (field) => !isOptional(field) && field.control.value === undefined),
    ({ schema, control }) => control.example ?? prefixOf(schema) ?? String([control.options?.[0] ?? "…"].flat()[0]),
  )

/** The organization of a new object. */
export const organizationId = required(field(OrganizationId, "Organization", { kind: "choice" }))

const MAX_REASON_LENGTH = 200

/** An operator's reason, for the audit log, which must not contain personal data. */
const AuditReason = textSchema(
  `1 to ${MAX_REASON_LENGTH} characters on one line, for the audit log, without an e-mail address or an NPI`,
  (text) => {
    const reason = text.trim()
    const isLine = reason !== "" && reason.length <= MAX_REASON_LENGTH && !/\p{Cc}/u.test(reason)
    return isLine && !/@|\d{10}/.test(reason) ? reason : undefined
  },
)

export const reason = field(AuditReason, "Reason", {
  maxLength: MAX_REASON_LENGTH,
  size: 42,
  hint: "For the audit log; don't enter addresses or NPIs",
})

/** The result of an export. */
export const newFile = file("Write to this new file, readable only by its owner")

/** The filters of several lists. */
export const filterBy = {
  organization: field(OrganizationId, "Organization", { kind: "choice", all: "All" }),
  program: field(ProgramId, "Program", { kind: "choice", all: "All" }),
  campaign: field(CampaignId, "Campaign", { kind: "choice", all: "All" }),
  endpoint: field(EndpointId, "Endpoint", { kind: "choice", all: "All" }),
  group: field(FailureGroupId, "Issue", { placeholder: "fgr_…" }),
  type: choice("Type", outboundEventTypes, { all: "All" }),
  status: field(wholeNumber(100, 599, "an HTTP status"), "Status", {
    inputmode: "numeric",
    size: 4,
    hint: "The HTTP status of the last attempt",
    example: "503",
  }),
}

/** The word that the console's search looks up. */
export const searchTerm = field(SearchTerm, "Find", {
  size: 42,
  maxLength: 320,
  hint: `Part of a name or an e-mail address (${MIN_PART} characters or more), an id, NPI, token, or a leaked key or signing secret. The audit log records the search without the term.`,
})

export const timeRange = (from: string, to: string) => ({
  from: field(orAgo(PastInstant), from, { kind: "instant", example: "2026-11-01T09:00:00Z" }),
  to: field(orAgo(Instant), to, { kind: "instant" }),
})
