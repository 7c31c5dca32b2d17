import { Effect } from "effect"
import { createIdentifier } from "../Identifier.ts"
import { randomBase62 } from "../randomBase62.ts"
import { TOKEN_LENGTH } from "./Recipient.ts"
import type { Candidate } from "./RecipientRepository.ts"

/** Creates a candidate with a new id and a random token, which may be taken. */
export const createCandidate = Effect.fnUntraced(function* ({
  npi,
  email,
  fields,
}: Pick<Candidate, "npi" | "email" | "fields">) {
  const id = yield* createIdentifier("recipient")
  const token = yield* randomBase62(TOKEN_LENGTH)
  return { id, token, npi, email, ...(fields !== undefined && { fields }) } satisfies Candidate
})
