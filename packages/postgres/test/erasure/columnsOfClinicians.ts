import { PERSONAL_DATA, THEIR_ID } from "@outreach/domain/erasure/PersonalData"

/** Classifies a table's columns by whether they contain data about a clinician. Each list contains column names, separated by spaces. */
interface TableData {
  /** Columns of rows that an erasure deletes. */
  readonly deleted?: string
  /** Columns from which an erasure removes the clinician's data. */
  readonly erased?: string
  /** Columns that are kept although they are about a clinician, each with the reason. */
  readonly kept?: Readonly<Record<string, string>>
  /** Columns without data about clinicians. */
  readonly others?: string
}

const DOMAIN = "the domain without the local part, which determines how all mail to the domain is sent"

/**
 * Every text, JSON and binary column by table. A new column needs an entry here.
 *
 * `PERSONAL_DATA` lists the tables that are searched by clinician. `columnsOfClinicians.test.ts` erases a clinician and compares.
 */
export const COLUMNS_OF_CLINICIANS: Readonly<Record<string, TableData>> = {
  ...PERSONAL_DATA,
  api_keys: { others: "id organization_id name scopes hash prefix last_four" },
  audit_log: { others: "id role operator os_user host command arguments objects organizations submission" },
  audit_results: { others: "command_id result code" },
  audit_chain: { others: "kind command_id previous hash removed_by" },
  campaign_count_changes: { others: "organization_id campaign_id id" },
  campaign_counts: { others: "organization_id campaign_id" },
  campaign_domains: {
    erased: "last_reply",
    kept: { domain: DOMAIN },
    others: "organization_id campaign_id pause_status",
  },
  campaign_turns: { others: "organization_id campaign_id" },
  campaigns: {
    others:
      "organization_id id program_id name kind status subject preheader html short_link fields text stopped_by stop_reason status_before_restore",
  },
  clock_watch: { others: "doubt faults identity" },
  deliveries: { others: "organization_id id endpoint_id event_id owner group_id" },
  delivery_outcomes: { others: "organization_id endpoint_id" },
  delivery_workers: { others: "token process" },
  digest_funnel: { others: "organization_id program_id" },
  digest_outreach: { others: "organization_id program_id" },
  dkim_keys: { others: "organization_id id sender_id selector public_key ciphertext" },
  endpoint_headers: { others: "endpoint_id organization_id ciphertext" },
  endpoint_readers: { others: "endpoint_id organization_id owner notice_to" },
  erased_clinicians: {
    kept: { hash: "a keyed hash, which goes on suppressing (decision 29)" },
    others: "organization_id",
  },
  erased_events: { others: "organization_id event_id" },
  erasure_keys: { others: "organization_id ciphertext" },
  erasures: {
    kept: {
      subject: "a keyed hash, by which the certificate is found",
      hashes: "the keyed hashes that go on suppressing",
      state: "encrypted, and deleted when the erasure is finished",
    },
    others: "organization_id id operator commands release counts",
  },
  failure_groups: { erased: "first_line", others: "organization_id id endpoint_id outcome muted_reason" },
  granted_roles: { others: "role kind" },
  hit_windows: { deleted: "organization_id recipient_id link_hash network" },
  // The reasons for rejected lines don't contain the lines.
  imports: { others: "organization_id id campaign_id operator fault rejects" },
  inbox_keys: { kept: { event_id: THEIR_ID }, others: "organization_id" },
  migrations: { others: "file checksum" },
  operator_sessions: { others: "hash id operator_id" },
  operators: { others: "id name role organization_id" },
  organization_clock: { others: "organization_id identity" },
  organization_turns: { others: "organization_id" },
  organizations: { others: "id name contacts" },
  programs: { others: "organization_id id slug name status sender_name postal_address" },
  rate_windows: { others: "key_id" },
  reader_positions: { others: "endpoint_id begun_id open organization_id" },
  replay_jobs: { others: "id endpoint_id event_type reason after_id kind organization_id event_types group_id" },
  restores: { others: "id" },
  retention_limits: { others: "parent" },
  send_rates: { kept: { scope: DOMAIN } },
  senders: {
    others: "organization_id id program_id from_name from_address reply_to dkim_domain bounce_domain link_domain",
  },
  link_domains: { others: "organization_id domain" },
  sign_in_links: { others: "hash operator_id" },
  signature_rejections: { others: "endpoint_id reason" },
  signing_secrets: { others: "id organization_id endpoint_id ciphertext hash" },
  stored_responses: { deleted: "organization_id key fingerprint headers encoding body" },
  stored_response_totals: { others: "organization_id" },
  timelines: { others: "timeline mark" },
  webhook_endpoints: { others: "id organization_id url event_types disabled_reason headers" },
}
