import { Result } from "effect"
import { parseInput } from "../parseInput.ts"
import { canonicalEmail } from "../recipients/EmailAddress.ts"
import { Npi } from "../recipients/Npi.ts"
import { TOKEN_LENGTH } from "../recipients/Recipient.ts"
import { textSchema } from "../textSchema.ts"

/** What an operator looks for: a thing by its id, or a clinician. */
export interface SearchTerm {
  readonly by: "id" | "npi" | "email" | "token"
  readonly value: string
}

/** An id, ours or that of a partner's event. */
const ID = /^(?:[a-z]{3}_[0-9a-f]{32}|evt_[0-9a-f]+)$/
const TOKEN = new RegExp(`^[0-9A-Za-z]{${TOKEN_LENGTH}}$`)

export const SearchTerm = textSchema<SearchTerm>(
  "an e-mail address, an NPI of ten digits, a token of six letters and digits, or an id such as cmp_…",
  (text) => {
    const value = text.trim()
    if (value.includes("@")) {
      const email = canonicalEmail(value)
      if (email === undefined) throw new RangeError("the e-mail address is not valid")
      return { by: "email", value: email }
    }
    if (/^\d{10}$/.test(value)) {
      const npi = parseInput(Npi)(value)
      if (Result.isFailure(npi)) throw new RangeError(npi.failure.reason)
      return { by: "npi", value }
    }
    if (TOKEN.test(value)) return { by: "token", value }
    const id = value.toLowerCase()
    return ID.test(id) ? { by: "id", value: id } : undefined
  },
)
