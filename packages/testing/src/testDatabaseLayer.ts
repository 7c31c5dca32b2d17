import { databaseLayer } from "@outreach/postgres/databaseLayer"
import { Redacted } from "effect"

/** Connects to a database, and waits long for it: a test's machine may be busy. */
export const testDatabaseLayer = (url: string, options: { readonly maxConnections?: number } = {}) =>
  databaseLayer({ url: Redacted.make(url), applicationName: "test", connectTimeout: "2 minutes", ...options })
