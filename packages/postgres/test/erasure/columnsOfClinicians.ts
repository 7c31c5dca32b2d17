/** What the text of a table is to a clinician. Each list names columns, separated by spaces. */
interface TableData {
  /** Those of rows that an erasure deletes. */
  readonly deleted?: string
  /** Those that may name a clinician, out of which an erasure takes what names the erased one. */
  readonly erased?: string
  /** Those that concern a clinician and stay, each with the reason. */
  readonly kept?: Readonly<Record<string, string>>
  /** Those that hold nothing on a clinician. */
  readonly others?: string
}

const OUR_ID = "our id of the record, which names nobody once the record is erased"
const THEIR_ID = "the partner's id of an event, by which it is recognised when it comes again"
const DOMAIN = "the domain without the part before the @, which says how mail to all of it is sent"

/**
 * Every column of text, JSON and bytes, by table: a new column is not in the schema without a line here.
 *
 * `columnsOfClinicians.test.ts` erases a clinician and looks whether it is true.
 */
export const COLUMNS_OF_CLINICIANS: Readonly<Record<string, TableData>> = {
  api_keys: { others: "id organization_id name scopes hash prefix last_four" },
  audit_log: { others: "id role operator os_user host command arguments organizations" },
  audit_results: { others: "command_id result code" },
  breaker_changes: { others: "organization_id endpoint_id breaker" },
  campaign_count_changes: { others: "organization_id campaign_id id subject" },
  campaign_counts: { others: "organization_id campaign_id subject" },
  campaign_domains: { erased: "last_reply", kept: { domain: DOMAIN }, others: "organization_id campaign_id" },
  campaign_turns: { others: "organization_id campaign_id" },
  campaigns: { others: "organization_id id program_id name kind status subject html short_link fields text" },
  clock_watch: { others: "doubt" },
  complaints: { deleted: "organization_id campaign_id recipient_id feedback_type" },
  database_identity: { others: "identity" },
  dead_letters: { erased: "attempts", others: "organization_id id endpoint_id event_id reason replayed_as group_id" },
  delivered: { erased: "attempts deliveries", others: "organization_id id endpoint_id event_id first_id" },
  deliveries: { others: "organization_id id endpoint_id event_id owner" },
  delivery_attempts: { erased: "response", others: "organization_id delivery_id outcome" },
  delivery_outcomes: { others: "organization_id endpoint_id" },
  delivery_workers: { others: "token" },
  digest_funnel: { others: "organization_id program_id" },
  digest_outreach: { others: "organization_id program_id" },
  dkim_keys: { others: "organization_id id sender_id selector public_key ciphertext" },
  domain_pauses: { kept: { domain: DOMAIN }, others: "organization_id campaign_id status" },
  endpoint_readers: { others: "endpoint_id organization_id owner" },
  erased_clinicians: {
    kept: { hash: "a keyed hash, which goes on suppressing (decision 33)" },
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
    others: "organization_id id release counts",
  },
  events: {
    erased: "body",
    kept: { recipient_id: OUR_ID },
    others: "organization_id id type campaign_id program_id traceparent",
  },
  failure_group_hours: { others: "organization_id group_id" },
  failure_groups: { erased: "first_line", others: "organization_id id endpoint_id reason outcome" },
  follow_ups: { kept: { last_id: OUR_ID }, others: "organization_id campaign_id first_id unless skipped" },
  gauge_samples: { others: "organization_id" },
  granted_roles: { others: "role kind" },
  hit_windows: { deleted: "organization_id recipient_id address link_hash" },
  hits: {
    erased: "link address headers",
    kept: { recipient_id: OUR_ID },
    others: "organization_id id kind method reasons",
  },
  inbox: {
    erased: "npi body",
    kept: { event_id: THEIR_ID },
    others: "organization_id endpoint_id type reason secret_id",
  },
  inbox_keys: { kept: { event_id: THEIR_ID }, others: "organization_id" },
  mail_operators: { kept: { domain: DOMAIN }, others: "operator" },
  message_attempts: { deleted: "organization_id recipient_id outcome reply" },
  messages: { deleted: "organization_id recipient_id campaign_id lease_token failure_class failure_code" },
  migrations: { others: "file checksum" },
  operator_sessions: { others: "hash operator_id" },
  operators: { others: "id name role organization_id" },
  organization_clock: { others: "organization_id identity" },
  organization_suppressions: { deleted: "organization_id kind value reason" },
  organization_turns: { others: "organization_id" },
  organizations: { others: "id name" },
  programs: { others: "organization_id id slug name status sender_name postal_address" },
  qualifications: { erased: "npi", kept: { event_id: THEIR_ID }, others: "organization_id program_id stage" },
  rate_windows: { others: "key_id" },
  read_positions: { kept: { position_id: OUR_ID }, others: "organization_id key_id list types" },
  reader_positions: { others: "endpoint_id begun_id open organization_id" },
  recipient_fields: { deleted: "organization_id recipient_id fields time_zones" },
  recipients: {
    erased: "token npi email",
    kept: {
      id: "the partner finds the erased record under it",
      withdrawal_reason: "the campaign's counts are made of it",
      test_subject: "the campaign's counts are made of it",
    },
    others: "organization_id campaign_id program_id",
  },
  replay_jobs: { others: "id endpoint_id event_type reason after_id kind organization_id event_types group_id" },
  request_counts: { others: "organization_id caller_id code" },
  restored_campaigns: { others: "organization_id campaign_id restore_id status" },
  restored_clocks: { others: "organization_id restore_id" },
  restores: { others: "id" },
  secret_verifications: { others: "organization_id secret_id endpoint_id" },
  retention_limits: { others: "parent" },
  send_rates: { kept: { scope: DOMAIN } },
  sender_ramps: { others: "organization_id sender_id" },
  senders: { others: "organization_id id program_id from_name from_address reply_to dkim_domain bounce_domain" },
  sign_in_links: { others: "hash operator_id" },
  signing_secrets: { others: "id organization_id ciphertext" },
  stored_response_totals: { others: "organization_id" },
  stored_responses: { deleted: "organization_id key fingerprint headers encoding body" },
  subject_tests: { others: "organization_id campaign_id subject_b winner counts" },
  suppressions: { deleted: "organization_id program_id kind value reason" },
  timelines: { others: "timeline mark" },
  unique_hits: { kept: { recipient_id: OUR_ID }, others: "organization_id type" },
  unsubscriptions: { deleted: "organization_id recipient_id" },
  webhook_endpoints: { others: "id organization_id url event_types" },
}
