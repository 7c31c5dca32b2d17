import type { RecipientFields } from "@outreach/domain/recipients/RecipientFields"
import type { SuppressionReason } from "@outreach/domain/suppressions/Suppression"

/** What a line says of its address; nothing for a line that says nothing against it. */
type Meaning = SuppressionReason | "nothing"

/** A list of suppressions as a service writes it. Names of columns and words are compared in lower case. */
export interface SuppressionForm {
  readonly name: string
  /** The columns by which it is recognised. */
  readonly columns: ReadonlyArray<string>
  /** The other columns that it may have; by default any. */
  readonly others?: ReadonlyArray<string>
  /** The column of the address. Default `email`. */
  readonly email?: string
  /** Whether a bad address makes the line bad. By default the line is left out: nobody can be written to by it. */
  readonly isStrict?: boolean
  /** What a line means by its other columns; undefined if it has a word that the service is not known to use. */
  readonly meaningOf: (fields: RecipientFields) => Meaning | undefined
}

const byWord =
  (column: string, meanings: Readonly<Record<string, Meaning>>) =>
  (fields: RecipientFields): Meaning | undefined => {
    const word = fields[column]?.toLowerCase() ?? ""
    return Object.hasOwn(meanings, word) ? meanings[word] : undefined
  }

/** The enhanced status codes of an address that does not exist or takes no mail; SendGrid's blocks have the same columns, and others. */
const AGAINST_ADDRESS = /^5\.1\.\d+$|^5\.2\.1$/

const postmark = byWord("suppressionreason", {
  hardbounce: "bounced",
  spamcomplaint: "complained",
  manualsuppression: "operator",
  softbounce: "nothing",
})

/** The form of `suppressions export`. */
const OURS: SuppressionForm = {
  name: "suppressions of this service",
  columns: ["reason"],
  others: ["npi", "email", "program", "since"],
  isStrict: true,
  meaningOf: byWord("reason", {
    ...{ "": "operator", operator: "operator", account_created: "account_created" },
    ...{ unsubscribed: "unsubscribed", bounced: "bounced", complained: "complained" },
  }),
}

/** The forms that are recognised, the first that fits. Each has a sample in `test/data/suppressions`, with its source. */
export const SUPPRESSION_FORMS: ReadonlyArray<SuppressionForm> = [
  OURS,
  {
    name: "Postmark's suppressions",
    columns: ["emailaddress", "suppressionreason"],
    email: "emailaddress",
    // A manual suppression by the recipient is an unsubscription.
    meaningOf: (fields) => {
      const meaning = postmark(fields)
      return meaning === "operator" && fields["origin"]?.toLowerCase() === "recipient" ? "unsubscribed" : meaning
    },
  },
  {
    name: "the suppression list of Amazon SES",
    columns: ["emailaddress", "reason"],
    email: "emailaddress",
    meaningOf: byWord("reason", { bounce: "bounced", complaint: "complained" }),
  },
  {
    name: "listmonk's bounces",
    columns: ["email", "type", "subscriber_uuid"],
    meaningOf: byWord("type", { hard: "bounced", complaint: "complained", soft: "nothing" }),
  },
  {
    name: "listmonk's subscribers",
    columns: ["uuid", "email", "status"],
    // It keeps no reason of a blocklisted subscriber.
    meaningOf: byWord("status", { blocklisted: "operator", enabled: "nothing", disabled: "nothing" }),
  },
  {
    name: "SendGrid's bounces or blocks",
    columns: ["email", "created", "reason", "status"],
    others: [],
    meaningOf: ({ status = "" }) => (AGAINST_ADDRESS.test(status) ? "bounced" : "nothing"),
  },
  {
    name: "SendGrid's spam reports",
    columns: ["email", "created", "ip"],
    others: [],
    meaningOf: () => "complained",
  },
  {
    name: "SendGrid's invalid addresses",
    columns: ["email", "created", "reason"],
    others: [],
    meaningOf: () => "bounced",
  },
  {
    name: "SendGrid's unsubscribes",
    columns: ["email", "created"],
    others: [],
    meaningOf: () => "unsubscribed",
  },
]

/** Returns the form of a file with these columns; undefined for a plain list of NPIs and addresses. */
export const recognizeForm = (columns: ReadonlyArray<string>): SuppressionForm | undefined =>
  SUPPRESSION_FORMS.find(
    (form) =>
      form.columns.every((column) => columns.includes(column)) &&
      columns.every((column) => [...form.columns, ...(form.others ?? columns)].includes(column)),
  )
