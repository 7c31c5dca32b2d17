import { canonicalEmail } from "@outreach/domain/recipients/EmailAddress"
import { Npi } from "@outreach/domain/recipients/Npi"
import { Schema } from "effect"

/** A cell without what surrounds its value, or with the reason why it holds none. */
export interface Cell {
  readonly value: string
  /** What was taken off, or what is doubtful. */
  readonly remark?: string
  readonly reason?: string
}

export const isNpi = Schema.is(Npi)
export const isEmail = (text: string): boolean => canonicalEmail(text) !== undefined

export const readNpi = (cell: string): Cell =>
  /^\d{10}$/.test(cell) ? { value: cell } : read(cell, "NPI", isNpi, NPI_WRAPPINGS, NPI_FAULTS)

export const readEmail = (cell: string): Cell =>
  /^[\w.+-]+@[\w.-]+$/.test(cell)
    ? { value: cell }
    : read(cell, "e-mail address", isPlainEmail, EMAIL_WRAPPINGS, EMAIL_FAULTS)

/** An address may begin with an apostrophe, but Excel puts one before a text. */
const isPlainEmail = (text: string): boolean => !text.startsWith("'") && isEmail(text)

/** Finds what a spreadsheet did to the value of a field; a value that is only doubtful stays as it is. */
export const readField = (name: string, value: string): Cell => {
  if (/^'\s*[=+\-@＝＋－＠]/.test(value)) {
    return { value: value.slice(1), remark: `an apostrophe before the field ${name} was taken off` }
  }
  if (!/[#\d]/.test(value)) return { value }
  if (ERROR.test(value)) return { value, reason: `the field ${name} ${ERROR_FAULT}` }
  const doubt = DOUBTS.find(([isOf, pattern]) => isOf.test(name) && pattern.test(value))?.[2]
  return doubt === undefined ? { value } : { value, remark: `the field ${name} ${doubt}` }
}

type Wrapping = readonly [pattern: RegExp, kept: string, what: string]
type Fault = readonly [pattern: RegExp, what: string]

/** What is taken off leaves a valid value, or else the cell stays as it is. */
const read = (
  cell: string,
  noun: string,
  isValid: (text: string) => boolean,
  wrappings: ReadonlyArray<Wrapping>,
  faults: ReadonlyArray<Fault>,
): Cell => {
  const value = cell.replaceAll(ENDS, "")
  if (value === "") return { value }
  if (isValid(value)) return value === cell ? { value } : { value, remark: `spaces around the ${noun} were taken off` }
  for (const [pattern, kept, what] of wrappings) {
    const inner = value.replace(pattern, kept)
    if (inner !== value && isValid(inner)) return { value: inner, remark: `${what} the ${noun} was taken off` }
  }
  // The digits of other scripts, such as full-width ones.
  const plain = value.normalize("NFKC")
  if (noun === "NPI" && isValid(plain)) return { value: plain, remark: "full-width digits of the NPI were replaced" }
  const what = faults.find(([pattern]) => pattern.test(value))?.[1]
  return what === undefined ? { value } : { value, reason: `the ${noun} ${what}` }
}

/** Spaces of every kind, and what shows nothing. */
const UNSEEN = String.raw`[\s\u00AD\u200B-\u200F\u202A-\u202E\u2060\uFEFF]`
const ENDS = new RegExp(`^${UNSEEN}+|${UNSEEN}+$`, "g")

const SHARED_WRAPPINGS: ReadonlyArray<Wrapping> = [
  [/^="(.+)"$/, "$1", 'the formula ="" around'],
  [/^(.+?)[,;]$/, "$1", "a comma or semicolon after"],
]
const NPI_WRAPPINGS: ReadonlyArray<Wrapping> = [
  ...SHARED_WRAPPINGS,
  [/^'(.+)$/, "$1", "an apostrophe before"],
  [/^(\d{10})[.,]0+$/, "$1", "a decimal zero after"],
  [/^(\d)[.,](\d{9})E\+?0?9$/i, "$1$2", "the exponent of"],
  [/^(\d)[.,'’\s](\d{3})[.,'’\s](\d{3})[.,'’\s](\d{3})$/, "$1$2$3$4", "the grouping of"],
]
const EMAIL_WRAPPINGS: ReadonlyArray<Wrapping> = [
  ...SHARED_WRAPPINGS,
  [/^'(.+)'$/, "$1", "apostrophes around"],
  [/^'([=+@-].+)$/, "$1", "an apostrophe before"],
  [/^mailto:(.+)$/i, "$1", "mailto: before"],
  [/^[^<>@]*<\s*([^<>\s]+)\s*>$/, "$1", "a name beside"],
]

const SHORTENED = /^[+-]?\d(?:[.,]\d+)?E[+-]?\d+$/i
const DATE =
  /^(?:\d{1,2}[-./ ]{1,2}(?:\d{1,2}|\p{L}{3,4})(?:[-./ ]{1,2}\d{2,4})?|\p{L}{3,4}[-./ ]{1,2}\d{2,4}|\d{4}-\d\d-\d\d(?:[ T].*)?)$/u
const ERROR = /^#(?:REF!|N\/A|VALUE!|NAME\?|DIV\/0!|NUM!|NULL!|SPILL!|CALC!|NV|WERT!|BEZUG!|ZAHL!)$/i
const ERROR_FAULT =
  "is the error of a formula, such as #N/A: paste the values in the workbook, and save it as CSV again"

const SHARED_FAULTS: ReadonlyArray<Fault> = [
  [ERROR, ERROR_FAULT],
  [
    /^#+$/,
    "is ####, which stands for what is wider than its column: widen it in the workbook, and save it as CSV again",
  ],
  [/^=/, "is a formula, such as =HYPERLINK(…): give the value alone"],
]
const NPI_FAULTS: ReadonlyArray<Fault> = [
  ...SHARED_FAULTS,
  [
    SHORTENED,
    "was shortened by Excel, as in 1.23457E+09, and digits are lost: format the column as a number without decimals in the workbook, and save it as CSV again",
  ],
  [DATE, "is a date, which Excel makes of what looks like one: see whether the columns are shifted"],
  [
    /^\d{1,9}$/,
    "has too few digits and needs 10: none is a zero that Excel took away, because an NPI begins with 1 or 2",
  ],
  [/^\d{11,}$/, "has too many digits and needs 10: see whether another number is in the column"],
  [/@/, "is an e-mail address: see whether the columns are shifted"],
]
const EMAIL_FAULTS: ReadonlyArray<Fault> = [
  ...SHARED_FAULTS,
  [/@[^@]*[\s,;/|][^@]*@/, "is more than one: keep the one that counts"],
  [/[\uFF01-\uFF5E]/, "has full-width letters, such as ＠: write them as a to z and @"],
  [/^'/, "begins with an apostrophe, as Excel puts before a text: take it out"],
  [/^\d{10}$/, "is an NPI: see whether the columns are shifted"],
  [/\s/, "has a space within: take it out"],
  [new RegExp(UNSEEN), "has a character within that shows nothing: type the address anew"],
]

/** What makes the fields of a name doubtful. */
const DOUBTS: ReadonlyArray<readonly [name: RegExp, value: RegExp, what: string]> = [
  [/^(?:zip|zip_?code|postal_?code)$/, /^\d{3,4}$/, "has 3 or 4 digits, because Excel takes away zeros in front"],
  [/^/, SHORTENED, "was shortened by Excel, as in 1.23457E+09"],
  [/^/, /^(?:\d{1,2}-\p{L}{3}|\p{L}{3}-\d{2})$/u, "is a date such as 4-Mar, which Excel makes of what looks like one"],
]
