import { Effect, Layer } from "effect"

const loadSettings = () => import("@outreach/mail/smtpSettings")
const loadOwn = () => import("./ownServices.ts")

/** The services that only some commands need. A missing or wrong setting doesn't matter to the others. */
const SERVICES = [
  [/^campaigns (?:preflight|schedule|resume)$/, async () => (await loadSettings()).preflightSettings],
  [/^campaigns test$/, async () => (await loadSettings()).TestMailSettings.fromEnvironment],
  [/^senders (?:create|show|update|verify|rotate-dkim)$/, async () => (await loadOwn()).senderSetup],
  [/^endpoints test$/, async () => (await loadOwn()).webhookClient],
  [/^keys-at-rest /, async () => (await import("./secretCipher.ts")).uncheckedCipher],
  [/^(?:operators|sign-in-links) create$/, async () => (await loadOwn()).consoleAddress],
  [/^(?:doctor|status)$/, async () => (await loadOwn()).diagnoses],
  [/^bounces /, async () => (await loadOwn()).ownReturnPaths],
] as const

export type OwnServices = Layer.Success<Awaited<ReturnType<(typeof SERVICES)[number][1]>>>

/** Returns the services that only the command of these words needs. */
export const servicesOf = (command: string): Layer.Layer<never, unknown> => {
  const found = SERVICES.find(([commands]) => commands.test(command))
  const services = found === undefined ? Layer.empty : Layer.unwrap(Effect.promise<Layer.Any>(found[1]) as never)
  return services as Layer.Layer<never, unknown>
}
