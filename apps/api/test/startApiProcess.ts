import { SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { type AtEnd, startProcess, type TestProcess } from "@outreach/testing/startProcess"
import { asRole } from "@outreach/testing/testRoles"

const KEY = SECRETS_KEY.toString("base64")

/** Returns the settings of an API with free ports and without shutdown delay, unless `settings` overrides them. */
export const settingsFor = (
  databaseUrl: string,
  settings: Readonly<Record<string, string>>,
): Record<string, string> => ({
  DATABASE_URL: asRole(databaseUrl, "api"),
  SECRETS_KEY: KEY,
  CURSOR_KEY: KEY,
  PORT: "0",
  ADMIN_PORT: "0",
  SHUTDOWN_DELAY_SECONDS: "0",
  UNAUTHENTICATED_LIMIT: "1000000",
  ...settings,
})

/** Starts the API as a separate process that is killed at the end of the test. */
export const startApiProcess = (
  databaseUrl: string,
  settings: Readonly<Record<string, string>> = {},
  atEnd?: AtEnd,
): TestProcess =>
  startProcess(import.meta.resolve("../src/main.ts"), settingsFor(databaseUrl, settings), atEnd && { atEnd })
