/**
 * The subjects of commands by their word, in the order of the help. Each operation and list that a subject's modules export is a command below its word.
 * The modules are loaded when a command line or the help needs them.
 */
export const subjects = {
  migrate: () => [import("./operations/migrate.ts")],
  organizations: () => [import("./operations/organizations.ts"), import("./lists/organizations.ts")],
  keys: () => [import("./operations/keys.ts"), import("./lists/keys.ts")],
  endpoints: () => [import("./operations/endpoints.ts"), import("./lists/endpoints.ts")],
  secrets: () => [import("./operations/secrets.ts"), import("./lists/secrets.ts")],
  "keys-at-rest": () => [import("./operations/keysAtRest.ts"), import("./lists/keysAtRest.ts")],
  programs: () => [import("./operations/programs.ts"), import("./lists/programs.ts")],
  senders: () => [import("./operations/senders.ts"), import("./lists/senders.ts")],
  "link-domains": () => [import("./operations/senders.ts")],
  campaigns: () => [
    import("./operations/campaigns.ts"),
    import("./operations/campaignReports.ts"),
    import("./lists/campaigns.ts"),
  ],
  recipients: () => [import("./operations/recipients.ts")],
  imports: () => [import("./operations/recipients.ts"), import("./lists/imports.ts")],
  suppressions: () => [import("./operations/suppressions.ts"), import("./lists/suppressions.ts")],
  clinicians: () => [import("./operations/clinicians.ts")],
  bounces: () => [import("./operations/bounces.ts")],
  inbox: () => [import("./operations/inbox.ts"), import("./lists/inbox.ts")],
  events: () => [import("./operations/events.ts"), import("./lists/events.ts")],
  deliveries: () => [import("./operations/deliveries.ts"), import("./lists/deliveries.ts")],
  issues: () => [import("./operations/issues.ts"), import("./lists/issues.ts")],
  "dead-letters": () => [import("./operations/deadLetters.ts"), import("./lists/deadLetters.ts")],
  replays: () => [import("./operations/replays.ts"), import("./lists/replays.ts")],
  digests: () => [import("./operations/digests.ts"), import("./lists/digests.ts")],
  operators: () => [import("./operations/operators.ts"), import("./lists/operators.ts")],
  "sign-in-links": () => [import("./operations/operators.ts")],
  audit: () => [import("./operations/audit.ts"), import("./lists/audit.ts")],
  restores: () => [import("./operations/restores.ts")],
  doctor: () => [import("./operations/diagnoses.ts")],
  status: () => [import("./operations/diagnoses.ts")],
} as const satisfies Readonly<Record<string, () => ReadonlyArray<Promise<object>>>>

/** The subjects that are a command themselves, and have its description. */
type Sole = "migrate" | "doctor" | "status"

/** The descriptions of the other subjects in the help. */
export const subjectTexts: Readonly<Record<Exclude<keyof typeof subjects, Sole>, string>> = {
  organizations: "The partners' accounts",
  keys: "The partners' API keys",
  endpoints: "The partners' webhook endpoints",
  secrets: "The secrets that sign webhooks",
  "keys-at-rest": "The keys of SECRETS_KEY, which encrypt what is stored",
  programs: "What clinicians are invited to",
  senders: "The sender identities of e-mails, and the DKIM keys that sign them",
  "link-domains": "The domains of tracked links",
  campaigns: "E-mails to lists of recipients",
  recipients: "The clinicians that campaigns are sent to",
  imports: "Files of recipients that were imported",
  suppressions: "Clinicians that a program must not write to",
  clinicians: "What is held on a clinician",
  bounces: "What came back of e-mails: bounces and complaints",
  inbox: "Events that the partners sent",
  events: "Events that were published for the partners",
  deliveries: "Events on their way to the partners",
  issues: "Why calls to endpoints fail, by their cause",
  "dead-letters": "Deliveries that were rejected, ran out of attempts, or crashed several workers",
  replays: "Dead letters and events that the workers deliver again",
  digests: "The partners' daily digests",
  operators: "Who may use the console",
  "sign-in-links": "Links by which operators sign in, once each",
  audit: "Who did what with this command line, and whether that record is whole",
  restores: "What to do after the database was restored to a point in the past",
}
