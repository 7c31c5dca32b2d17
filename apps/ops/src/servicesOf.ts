import type { NodeServices } from "@effect/platform-node/NodeServices"
import { Effect, Layer } from "effect"
import type { services } from "./services.ts"

const loadSettings = () => import("@outreach/mail/smtpSettings")
const loadOwn = () => import("./ownServices.ts")

/** The services that only some commands need. A missing or wrong setting doesn't matter to the others. */
const SERVICES = [
  [/^campaigns (?:preflight|schedule|resume)$/, async () => (await loadSettings()).preflightSettings],
  [/^campaigns test$/, async () => (await loadSettings()).TestMailSettings.fromEnvironment],
  [/^senders (?:create|show|update|verify|rotate-dkim)$/, async () => (await loadOwn()).senderSetup],
  [/^endpoints test$/, async () => (await loadOwn()).webhookClient],
  [/^keys-at-rest /, async () => (await import("./services.ts")).uncheckedCipher],
  [/^(?:operators|sign-in-links) create$/, async () => (await loadOwn()).consoleAddress],
  [/^bounces /, async () => (await loadOwn()).returnPaths],
] as const

/** The services that commands may need: those of all commands, and those of single ones. */
export type Services =
  | Layer.Success<typeof services>
  | NodeServices
  | Layer.Success<Awaited<ReturnType<(typeof SERVICES)[number][1]>>>

/** The commands that need no database or connect themselves. */
const WITHOUT_DATABASE = /^(?:bounces .*|doctor|status)$/

/** Returns the services of the command of these words. They are loaded when it runs. */
export const servicesOf = (command: string): Layer.Layer<never, unknown, NodeServices> => {
  const load = async () => {
    const [, loadOwnService] = SERVICES.find(([commands]) => commands.test(command)) ?? []
    const own = ((await loadOwnService?.()) ?? Layer.empty) as Layer.Layer<never, unknown, NodeServices>
    return WITHOUT_DATABASE.test(command) ? own : Layer.provideMerge(own, (await import("./services.ts")).services)
  }
  return Layer.unwrap(Effect.promise(load))
}
