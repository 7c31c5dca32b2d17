import { type Html, html, join, type Part, prose } from "@outreach/process/html"

/** The subset of JSON Schema that the OpenAPI document uses. */
export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly items?: JsonSchema
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly oneOf?: ReadonlyArray<JsonSchema>
  readonly const?: unknown
  readonly enum?: ReadonlyArray<string>
  readonly default?: unknown
  readonly example?: string
  readonly format?: string
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
}

/** Fields of an object, including nested objects. */
export const schemaFields = (schema: JsonSchema): string => fieldList(fieldsOf(schema))

interface Field {
  readonly name: string
  readonly kind: Part
  readonly meaning: Part
}

/** A list of named values with type and description. */
export const fieldList = (fields: ReadonlyArray<Field>): string =>
  html`<dl class="fields">
${fields.map(({ name, kind, meaning }) => html`<dt><code>${name}</code></dt><dd><small>${kind}</small> ${meaning}</dd>\n`)}</dl>`
    .markup

const fieldsOf = ({ properties = {}, required = [] }: JsonSchema, prefix = ""): ReadonlyArray<Field> =>
  Object.entries(properties).flatMap(([key, schema]) => {
    const name = prefix + key
    const kind = html`${typeOf(schema)}${required.includes(key) ? "" : ", optional"}`
    const within = schema.items?.properties ? schema.items : schema
    return [
      { name, kind, meaning: meaningOf(schema) },
      ...fieldsOf(within, within === schema ? `${name}.` : `${name}[].`),
    ]
  })

/** Returns the name of a referenced schema. */
export const nameOf = ({ $ref }: { readonly $ref: string }): string => $ref.slice($ref.lastIndexOf("/") + 1)

/** Renders the type of a value, with a link if it is a named schema. */
export const typeOf = (schema: JsonSchema): Part => {
  const { $ref, type, items, anyOf, oneOf } = schema
  const choices = anyOf ?? oneOf
  if ($ref !== undefined) return html`<a href="#${nameOf({ $ref })}">${nameOf({ $ref })}</a>`
  if (choices !== undefined) return join(choices.map(typeOf), " or ")
  if (items !== undefined) return html`array of ${typeOf(items)}`
  if (schema.const !== undefined) return html`<code>${JSON.stringify(schema.const)}</code>`
  return schema.format ?? [type ?? "any value"].flat().join(" or ")
}

/** Renders the description and the constraints of a value. */
export const meaningOf = (schema: JsonSchema): Part => {
  const description = schema.description === undefined ? [] : [prose(schema.description)]
  return join([...description, ...rulesOf(schema).map((rule) => html`${rule}.`)], " ")
}

const rulesOf = (schema: JsonSchema): ReadonlyArray<Html> => {
  const { pattern, minimum, maximum, minLength, maxLength, minItems, maxItems, default: standard } = schema
  const choices = schema.enum ?? schema.items?.enum
  return [
    ...(choices === undefined ? [] : [html`One of ${join(choices.map((choice) => html`<code>${choice}</code>`))}`]),
    ...range(undefined, minimum, maximum),
    ...range("character", minLength, maxLength),
    ...range("item", minItems, maxItems),
    // The format replaces its pattern.
    ...(pattern === undefined || schema.format !== undefined ? [] : [html`Matches <code>${pattern}</code>`]),
    ...(standard === undefined ? [] : [html`Default <code>${JSON.stringify(standard)}</code>`]),
  ]
}

const range = (unit: string | undefined, least: number | undefined, most: number | undefined): ReadonlyArray<Html> => {
  const counted = (count: number): string => `${count}${unit === undefined ? "" : ` ${unit}${count === 1 ? "" : "s"}`}`
  if (least === undefined) return most === undefined ? [] : [html`At most ${counted(most)}`]
  return [most === undefined ? html`At least ${counted(least)}` : html`${least} to ${counted(most)}`]
}
