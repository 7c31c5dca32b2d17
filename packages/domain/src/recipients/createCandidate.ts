import { Effect } from "effect"
import { createIdentifier } from "../Identifier.ts"
import { randomBase62 } from "../randomBase62.ts"
import { type Candidate, TOKEN_LENGTH } from "./Recipient.ts"

/** Creates a candidate with a new id and a random token, which may be taken. */
export const createCandidate = Effect.fnUntraced(function* (given: Omit<Candidate, "id" | "token">) {
  const id = yield* createIdentifier("recipient")
  const token = yield* randomBase62(TOKEN_LENGTH)
  return { ...given, id, token } satisfies Candidate
})
