import {
  adviceOn,
  type DatabaseFault,
  describeDatabaseError,
} from "@outreach/postgres-connection/describeDatabaseError"

/** The SQLSTATE of a role without a right. */
export const INSUFFICIENT_PRIVILEGE = "42501"

const SCHEMA = "the schema is missing or older than this release; run `ops migrate`"

/** Advice for the SQLSTATEs of a schema that doesn't match this release. */
const SCHEMA_ADVICE: Readonly<Record<string, string>> = {
  "3F000": SCHEMA,
  [INSUFFICIENT_PRIVILEGE]:
    "the role of DATABASE_URL lacks a right on the database or its tables; grant it as the owner with `ops migrate --grant-to`",
  "42703": SCHEMA,
  "42883": SCHEMA,
  "42P01":
    "the schema is missing, or hidden from the role of DATABASE_URL by its rights or search_path; run `ops migrate`, with `--grant-to` for a role that is not the owner",
}

/** Returns the fault of a code, with advice about this product's schema or, for other codes, about the connection. */
export const faultOf = (code: string): DatabaseFault => ({ code, advice: SCHEMA_ADVICE[code] ?? adviceOn(code) })

/** Describes a database driver error like `describeDatabaseError`, with advice about this product's schema. */
export const describeFault = (error: unknown): DatabaseFault => {
  const { code, advice } = describeDatabaseError(error)
  return { code, advice: SCHEMA_ADVICE[code] ?? advice }
}
