/**
 * The subjects of commands by their word, in the order of the help, with their descriptions. Each operation and list that a subject's modules
 * export is a command below its word. The modules are loaded when a command line or the help needs them. `migrate` is a command itself.
 */
export const subjects = {
  migrate: [null, () => [import("./operations/migrate.ts")]],
  organizations: ["The partners' accounts", () => [import("./operations/organizations.ts")]],
  keys: ["The partners' API keys", () => [import("./operations/keys.ts")]],
  endpoints: [
    "The partners' webhook endpoints",
    () => [import("./operations/endpoints.ts"), import("./operations/endpointActions.ts")],
  ],
  secrets: ["The secrets that sign webhooks", () => [import("./operations/secrets.ts")]],
  "keys-at-rest": [
    "The keys of SECRETS_KEY, which encrypt stored secrets",
    () => [import("./operations/keysAtRest.ts")],
  ],
  programs: ["The programs that clinicians are invited to", () => [import("./operations/programs.ts")]],
  senders: [
    "The sender identities of e-mails, and the DKIM keys that sign them",
    () => [import("./operations/senders.ts")],
  ],
  "link-domains": ["The domains of tracked links", () => [import("./operations/senders.ts")]],
  campaigns: [
    "E-mails to lists of recipients",
    () => [import("./operations/campaigns.ts"), import("./operations/campaignReports.ts")],
  ],
  recipients: ["The clinicians that campaigns are sent to", () => [import("./operations/recipients.ts")]],
  imports: ["Files of recipients that were imported", () => [import("./operations/imports.ts")]],
  suppressions: ["Clinicians that a program must not write to", () => [import("./operations/suppressions.ts")]],
  clinicians: ["The stored data on a clinician", () => [import("./operations/clinicians.ts")]],
  erasures: ["The certificates of erased clinicians", () => [import("./operations/clinicians.ts")]],
  bounces: ["Bounces and complaints", () => [import("./operations/bounces.ts")]],
  inbox: ["Events that the partners sent", () => [import("./operations/inbox.ts")]],
  "signature-rejections": ["Webhooks to us without a valid signature", () => [import("./operations/inbox.ts")]],
  events: ["Events that were published for the partners", () => [import("./operations/events.ts")]],
  deliveries: ["Events on their way to the partners", () => [import("./operations/deliveries.ts")]],
  issues: ["Why calls to endpoints fail, by their cause", () => [import("./operations/issues.ts")]],
  "dead-letters": [
    "Deliveries that were rejected, ran out of attempts, or crashed several workers",
    () => [import("./operations/deadLetters.ts")],
  ],
  replays: ["Dead letters and events that the workers deliver again", () => [import("./operations/replays.ts")]],
  digests: ["The partners' daily digests", () => [import("./operations/digests.ts")]],
  operators: ["The users of the console", () => [import("./operations/operators.ts")]],
  "sign-in-links": ["Links by which operators sign in, once each", () => [import("./operations/operators.ts")]],
  audit: ["The log of commands and console actions, and its verification", () => [import("./operations/audit.ts")]],
  restores: ["The steps after a point-in-time restore of the database", () => [import("./operations/restores.ts")]],
} as const satisfies Readonly<
  Record<string, readonly [about: string | null, load: () => ReadonlyArray<Promise<object>>]>
>
