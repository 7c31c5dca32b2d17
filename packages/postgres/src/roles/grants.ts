/** The kinds of database roles, in addition to the owner of the tables, who migrates. */
export const ROLE_KINDS = ["api", "worker", "operator", "reader"] as const
export type RoleKind = (typeof ROLE_KINDS)[number]

/** The rights of each kind of role except the reader, who may only select all columns except `SECRET_COLUMNS`. */
type Rights = Partial<Record<Exclude<RoleKind, "reader">, string>>

/**
 * The rights on each table: SQL privileges separated by commas, limited to columns if possible. Operators may also select all columns.
 *
 * `select … for update` and `for share` need the right to update a column. Two releases run side by side during an upgrade, so keep a
 * right in this table for one release after its last use.
 */
export const TABLE_GRANTS: Readonly<Record<string, Rights>> = {
  organizations: {
    api: "select",
    worker: "select",
    operator: "insert, update (name, contacts, self_service, max_endpoints)",
  },
  organization_clock: { api: "select", worker: "select, update", operator: "insert, update" },
  api_keys: { api: "select, update (last_used_at)", operator: "insert, update" },
  rate_windows: { api: "select, insert, update", worker: "select, delete" },
  programs: { api: "select", worker: "select", operator: "insert, update" },
  campaigns: { api: "select", worker: "select, update", operator: "insert, update" },
  campaign_counts: { worker: "select, insert, update", operator: "insert" },
  campaign_count_changes: { api: "insert", worker: "select, insert, delete", operator: "insert" },
  campaign_domains: { worker: "select, insert, update", operator: "update (last_reply)" },
  recipients: { api: "select, update (last_event_at)", worker: "select, insert, update", operator: "insert, update" },
  recipient_keys: { api: "select", worker: "select, insert, update", operator: "insert, update" },
  recipient_fields: { worker: "select, insert, delete", operator: "insert, update, delete" },
  events: { api: "select", worker: "select, insert, update (body)", operator: "insert, update (body)" },
  webhook_endpoints: { api: "select", worker: "select, update (removed_at), delete", operator: "insert, update" },
  endpoint_headers: { worker: "select", operator: "insert, update, delete" },
  signing_secrets: { api: "select, update (last_verified_at)", worker: "select, delete", operator: "insert, update" },
  delivery_workers: { worker: "select, insert, update, delete" },
  endpoint_readers: { worker: "select, insert, update, delete", operator: "insert, update" },
  reader_positions: { worker: "select, insert, update, delete", operator: "insert, update, delete" },
  deliveries: { worker: "select, insert, update, delete", operator: "insert, update (due_at)" },
  delivery_attempts: { worker: "select, insert, delete", operator: "update (response)" },
  delivered: { worker: "select, insert", operator: "update (attempts, deliveries)" },
  dead_letters: { worker: "select, insert, update, delete", operator: "update, delete" },
  failure_groups: { worker: "select, insert, update, delete", operator: "insert, update, delete" },
  delivery_outcomes: { worker: "select, insert, update, delete" },
  replay_jobs: { worker: "select, update", operator: "insert, update" },
  inbox: { api: "select, insert, update (differing)", worker: "select, update", operator: "update" },
  inbox_keys: { api: "select, insert", worker: "select" },
  signature_rejections: { api: "select, insert, update" },
  qualifications: { worker: "select, insert", operator: "update (npi)" },
  messages: { worker: "select, insert, update, delete", operator: "insert, update, delete" },
  message_attempts: { worker: "select, insert, update (times, last_at, reply), delete", operator: "delete" },
  imports: { operator: "insert, update, delete" },
  campaign_turns: { worker: "select, insert, update, delete" },
  organization_turns: { worker: "select, insert, update, delete" },
  send_rates: { worker: "select, insert, update, delete" },
  hits: { api: "select, insert, update (repeats)", worker: "select, update, delete", operator: "update" },
  hit_windows: { api: "select, insert, update", worker: "select, update, delete", operator: "delete" },
  suppressions: {
    worker: "select, insert, update (applied_at, reason, by_unsubscription)",
    operator: "insert, update (reason, by_unsubscription), delete",
  },
  late_refusals: { worker: "select, insert, delete", operator: "delete" },
  complaints: { worker: "select, insert, delete", operator: "delete" },
  unsubscriptions: { api: "select, insert, update", worker: "select, insert, update, delete", operator: "delete" },
  digest_outreach: { api: "select", worker: "select, insert, update", operator: "insert, update" },
  digest_funnel: { api: "select", worker: "select, insert, update" },
  stored_responses: { api: "select, insert, update, delete", worker: "select, delete", operator: "delete" },
  stored_response_totals: { api: "select, insert, update" },
  erasure_keys: { worker: "select, insert, update (placeholders)", operator: "insert, update" },
  senders: {
    worker: "select, update (ramp_day_number, ramp_counted_on, ramp_sent)",
    operator: "insert, update, delete",
  },
  link_domains: { api: "select", worker: "select", operator: "insert, update, delete" },
  dkim_keys: { worker: "select", operator: "insert, update, delete" },
  erased_clinicians: { worker: "select", operator: "insert" },
  erased_events: { worker: "select, insert, update, delete", operator: "insert, update, delete" },
  erasures: { operator: "insert, update" },
  timelines: { api: "select", worker: "select, insert", operator: "insert" },
  restores: { api: "select", worker: "select", operator: "insert, update" },
  // The database sets the time, the role and the id.
  audit_log: { operator: "insert (operator, os_user, host, command, arguments, objects, organizations, submission)" },
  audit_results: { operator: "insert (command_id, result, code)" },
  // Written by triggers of the two tables, with the owner's rights.
  audit_chain: {},
  operators: { operator: "insert, update (role, removed_at)" },
  sign_in_links: { worker: "select, delete", operator: "insert, update (used_at), delete" },
  operator_sessions: { worker: "select, delete", operator: "insert, update (last_used_at), delete" },
  clock_watch: { api: "select", worker: "select, update (identity, seen_at)", operator: "update (identity, seen_at)" },
  retention_limits: {},
  granted_roles: { api: "select", worker: "select" },
  migrations: { api: "select", worker: "select" },
}

/** Returns the rights of a kind of role on a table, from `TABLE_GRANTS`: for example `select`, or `update (name)` for one column. */
export const tableRights = (table: string, kind: keyof Rights): ReadonlyArray<string> => {
  const granted = [...(TABLE_GRANTS[table]?.[kind] ?? "").matchAll(/(\w+)(?: \(([^)]*)\))?/g)].flatMap(
    ([, privilege, columns]) => columns?.split(/,\s*/).map((column) => `${privilege} (${column})`) ?? privilege!,
  )
  return kind === "operator" ? ["select", ...granted] : granted
}

/** Columns that the reader may not select: credentials, and response bodies, which may contain credentials. */
export const SECRET_COLUMNS: Readonly<Record<string, ReadonlyArray<string>>> = {
  api_keys: ["hash"],
  endpoint_headers: ["ciphertext"],
  signing_secrets: ["ciphertext", "hash"],
  erasure_keys: ["ciphertext"],
  erasures: ["state"],
  dkim_keys: ["ciphertext"],
  stored_responses: ["fingerprint", "headers", "body"],
  sign_in_links: ["hash"],
  operator_sessions: ["hash"],
}

/** The only kinds of role that may call each function that runs with its owner's rights. */
export const FUNCTION_GRANTS: Readonly<Record<string, ReadonlyArray<RoleKind>>> = {
  keep_partitions: ["worker"],
  watch_clock: ["worker"],
  lift_unsubscriptions: ["worker"],
  disable_endpoint: ["worker"],
  chain_audit: [],
}
