import { String as Str } from "effect"

/** A table's data about clinicians. The lists contain columns of text, JSON and bytes, separated by spaces. */
interface PersonalDataTable {
  /**
   * How a subject's rows are found: by a column with the id or token of a record or with an NPI, by the `value` of a suppression, or by searching
   * the table's text, with a separate query.
   */
  readonly by: "id" | "token" | "recipient_id" | "npi" | "value" | "texts"
  /** Columns of rows that an erasure deletes. */
  readonly deleted?: string
  /** Columns that an erasure cleans of the subject's data. */
  readonly erased?: string
  /** Columns about a clinician that are kept, with the reason. */
  readonly kept?: Readonly<Record<string, string>>
  /** Columns without data about clinicians. */
  readonly others?: string
}

const OUR_ID = "our id of the record, anonymous after its erasure"
export const THEIR_ID = "the partner's id of an event, by which a repetition is recognised"

/**
 * Tables with data about clinicians, in the order of an erasure. Finding, counting, exporting and erasing are derived from this.
 *
 * `columnsOfClinicians.test.ts` compares it with the schema: a new column fails until it is listed here or known to contain no such data.
 */
export const PERSONAL_DATA = {
  recipients: {
    by: "id",
    erased: "token npi email",
    kept: {
      id: "the partner finds the erased record under it",
      withdrawal_reason: "the campaign's counts are made of it",
    },
    others: "organization_id campaign_id program_id",
  },
  recipient_keys: {
    by: "token",
    erased: "token npi email",
    kept: { recipient_id: OUR_ID },
    others: "organization_id campaign_id",
  },
  recipient_fields: { by: "recipient_id", deleted: "organization_id recipient_id fields" },
  messages: {
    by: "recipient_id",
    deleted: "organization_id recipient_id campaign_id lease_token failure_class failure_code",
  },
  message_attempts: { by: "recipient_id", deleted: "organization_id recipient_id outcome reply" },
  unsubscriptions: { by: "recipient_id", deleted: "organization_id recipient_id campaign_id" },
  complaints: { by: "recipient_id", deleted: "organization_id campaign_id recipient_id feedback_type" },
  late_refusals: { by: "recipient_id", deleted: "organization_id campaign_id recipient_id cause" },
  suppressions: { by: "value", deleted: "organization_id kind value program_id reason" },
  qualifications: {
    by: "npi",
    erased: "npi",
    kept: { event_id: THEIR_ID },
    others: "organization_id program_id stage",
  },
  events: {
    by: "texts",
    erased: "body",
    kept: { recipient_id: OUR_ID },
    others: "organization_id id type campaign_id program_id traceparent",
  },
  hits: {
    by: "recipient_id",
    erased: "link address headers",
    kept: { recipient_id: OUR_ID },
    others: "organization_id id kind method reasons",
  },
  inbox: {
    by: "texts",
    erased: "npi body",
    kept: { event_id: THEIR_ID },
    others: "organization_id endpoint_id type reason secret_id traceparent",
  },
  delivery_attempts: { by: "texts", erased: "response", others: "organization_id delivery_id outcome" },
  dead_letters: {
    by: "texts",
    erased: "attempts",
    others: "organization_id id endpoint_id event_id reason replayed_as group_id",
  },
  delivered: { by: "texts", erased: "attempts deliveries", others: "organization_id id endpoint_id event_id first_id" },
} as const satisfies Readonly<Record<string, PersonalDataTable>>

type Tables = typeof PERSONAL_DATA
export type PersonalTable = keyof Tables

/** Tables searched by text. */
export type SearchedTable = {
  [Table in PersonalTable]: Tables[Table]["by"] extends "texts" ? Table : never
}[PersonalTable]

/** Other tables, searched by a column. */
export type KeyedTable = Exclude<PersonalTable, SearchedTable>

export const PERSONAL_TABLES = Object.keys(PERSONAL_DATA) as ReadonlyArray<PersonalTable>

const LABELS: Partial<Record<PersonalTable, string>> = {
  events: "Published events",
  hits: "Opens and clicks",
  inbox: "Events of the partner",
  delivered: "Completed deliveries",
}

/** Returns the name of a table's data for people. Default: the table's name. */
export const labelOf = (table: PersonalTable): string => LABELS[table] ?? Str.capitalize(table.replaceAll("_", " "))

export const isKeyed = (table: PersonalTable): table is KeyedTable => PERSONAL_DATA[table].by !== "texts"

/** Tables that an erasure's first transaction doesn't cover, because they take long: those searched by text, and hits, which may be many. */
export type LaterTable = SearchedTable | "hits"
export const LATER_TABLES = PERSONAL_TABLES.filter((table): table is LaterTable => !isKeyed(table) || table === "hits")

/** Number of rows about a subject by table. */
export type PersonalDataCounts = Partial<Record<PersonalTable, number>>
