import {
  adviceOn,
  type DatabaseFault,
  describeDatabaseError,
} from "@outreach/postgres-connection/describeDatabaseError"

const SCHEMA = "the schema is missing or older than this release; run `ops migrate`"

/** What to do about the SQLSTATEs of a schema that is not as this release needs it. */
const SCHEMA_ADVICE: Readonly<Record<string, string>> = {
  "3F000": SCHEMA,
  "42501":
    "the role of DATABASE_URL lacks a right on the database or its tables; the owner gives it with `ops migrate --grant-to`",
  "42703": SCHEMA,
  "42883": SCHEMA,
  "42P01":
    "the schema is missing, or the role of DATABASE_URL does not see it by its rights or its search_path; run `ops migrate`, with `--grant-to` for a role that is not the owner",
}

/** Returns the fault of a code: with the advice of this product about its schema, and that of the connection about all else. */
export const faultOf = (code: string): DatabaseFault => ({ code, advice: SCHEMA_ADVICE[code] ?? adviceOn(code) })

/** Describes an error of the database driver as `describeDatabaseError` does, with the advice of this product about its schema. */
export const describeFault = (error: unknown): DatabaseFault => {
  const { code, advice } = describeDatabaseError(error)
  return { code, advice: SCHEMA_ADVICE[code] ?? advice }
}
