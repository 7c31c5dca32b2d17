/**
 * The tables of which nothing moves with an organization by replication, each with the reason. Every other table has `organization_id` in its
 * replica identity, so that a publication can select the rows of one organization: docs/cells.md.
 */
export const TABLES_THAT_STAY: Readonly<Record<string, string>> = {
  organizations:
    "the row is created at the target by hand, frozen: nothing may begin there before all of it has arrived",
  rate_windows: "unlogged: each key has one fresh window at the target",
  campaign_turns: "unlogged: the worker gives turns to campaigns that have none",
  organization_turns: "unlogged: the worker gives turns to organizations that have none",
  send_rates: "unlogged: each scope begins anew, with at most one second's messages too many",
  mail_operators: "of no organization: the worker looks each domain up again",
  hit_windows: "unlogged: each link has one fresh minute at the target",
  replay_jobs:
    "a job may be of all organizations: wait for those of the organization, or cancel them and create them anew",
  gauge_samples: "what the gauges of this server were: the target takes samples of its own",
  delivery_workers: "the workers of this server",
  database_identity: "where this server runs",
  timelines: "which servers wrote this database",
  clock_watch: "what is believed of this server's clock",
  clock_faults: "what this server's clock showed",
  retention_limits: "what this server keeps",
  restores: "the restores of this server",
  restored_clocks: "belongs to a restore of this server",
  restored_campaigns: "belongs to a restore of this server",
  audit_log: "what operators did on this server",
  audit_results: "belongs to the audit log of this server",
  audit_chain: "belongs to the audit log of this server",
  operators: "who may use the console of this server",
  sign_in_links: "belongs to an operator of this server",
  operator_sessions: "belongs to an operator of this server",
  granted_roles: "the roles of this server",
  migrations: "each server is migrated by itself",
}
