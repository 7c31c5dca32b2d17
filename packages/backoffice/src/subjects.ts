/** A subject of commands. Each operation and list that its modules export is a command below its word. */
interface Subject {
  /** The description in the help. Default: that of its only command. */
  readonly about?: string
  readonly modules: () => ReadonlyArray<Promise<object>>
}

/** The subjects by word in the order of the help. Their modules are loaded when a command line or the help needs them. */
export const subjects = {
  migrate: { modules: () => [import("./operations/migrate.ts")] },
  organizations: {
    about: "The partners' accounts",
    modules: () => [import("./operations/organizations.ts"), import("./lists/organizations.ts")],
  },
  keys: {
    about: "The partners' API keys",
    modules: () => [import("./operations/keys.ts"), import("./lists/keys.ts")],
  },
  endpoints: {
    about: "The partners' webhook endpoints",
    modules: () => [import("./operations/endpoints.ts"), import("./lists/endpoints.ts")],
  },
  secrets: {
    about: "The secrets that sign webhooks",
    modules: () => [import("./operations/secrets.ts"), import("./lists/secrets.ts")],
  },
  "keys-at-rest": {
    about: "The keys of SECRETS_KEY, which encrypt what is stored",
    modules: () => [import("./operations/keysAtRest.ts"), import("./lists/keysAtRest.ts")],
  },
  programs: {
    about: "What clinicians are invited to",
    modules: () => [import("./operations/programs.ts"), import("./lists/programs.ts")],
  },
  senders: {
    about: "The sender identities of e-mails, and the DKIM keys that sign them",
    modules: () => [import("./operations/senders.ts"), import("./lists/senders.ts")],
  },
  "link-domains": {
    about: "The domains of tracked links",
    modules: () => [import("./operations/senders.ts")],
  },
  campaigns: {
    about: "E-mails to lists of recipients",
    modules: () => [
      import("./operations/campaigns.ts"),
      import("./operations/campaignReports.ts"),
      import("./lists/campaigns.ts"),
    ],
  },
  recipients: {
    about: "The clinicians that campaigns are sent to",
    modules: () => [import("./operations/recipients.ts")],
  },
  imports: {
    about: "Files of recipients that were imported",
    modules: () => [import("./operations/recipients.ts"), import("./lists/imports.ts")],
  },
  suppressions: {
    about: "Clinicians that a program must not write to",
    modules: () => [import("./operations/suppressions.ts"), import("./lists/suppressions.ts")],
  },
  clinicians: {
    about: "What is held on a clinician",
    modules: () => [import("./operations/clinicians.ts")],
  },
  bounces: {
    about: "What came back of e-mails: bounces and complaints",
    modules: () => [import("./operations/bounces.ts")],
  },
  inbox: {
    about: "Events that the partners sent",
    modules: () => [import("./operations/inbox.ts"), import("./lists/inbox.ts")],
  },
  events: {
    about: "Events that were published for the partners",
    modules: () => [import("./operations/events.ts"), import("./lists/events.ts")],
  },
  deliveries: {
    about: "Events on their way to the partners",
    modules: () => [import("./operations/deliveries.ts"), import("./lists/deliveries.ts")],
  },
  issues: {
    about: "Why calls to endpoints fail, by their cause",
    modules: () => [import("./operations/issues.ts"), import("./lists/issues.ts")],
  },
  "dead-letters": {
    about: "Deliveries that were rejected, ran out of attempts, or crashed several workers",
    modules: () => [import("./operations/deadLetters.ts"), import("./lists/deadLetters.ts")],
  },
  replays: {
    about: "Dead letters and events that the workers deliver again",
    modules: () => [import("./operations/replays.ts"), import("./lists/replays.ts")],
  },
  digests: {
    about: "The partners' daily digests",
    modules: () => [import("./operations/digests.ts"), import("./lists/digests.ts")],
  },
  operators: {
    about: "Who may use the console",
    modules: () => [import("./operations/operators.ts"), import("./lists/operators.ts")],
  },
  "sign-in-links": {
    about: "Links by which operators sign in, once each",
    modules: () => [import("./operations/operators.ts")],
  },
  audit: {
    about: "Who did what with this command line, and whether that record is whole",
    modules: () => [import("./operations/audit.ts"), import("./lists/audit.ts")],
  },
  restores: {
    about: "What to do after the database was restored to a point in the past",
    modules: () => [import("./operations/restores.ts")],
  },
} as const satisfies Readonly<Record<string, Subject>>
