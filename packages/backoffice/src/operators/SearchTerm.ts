import { isApiKeyText } from "@outreach/domain/organizations/ApiKey"
import { canonicalEmail, Npi } from "@outreach/domain/recipients/Clinician"
import { TOKEN_LENGTH } from "@outreach/domain/recipients/Recipient"
import { parseInput, textSchema } from "@outreach/domain/textSchema"
import { Result } from "effect"

/** An operator's search: an object by id or part of its name, a key or signing secret by its text, or a clinician. */
export interface SearchTerm {
  /** A token and an address may also be part of a name or an address. */
  readonly by: "id" | "npi" | "email" | "token" | "key" | "secret" | "name"
  readonly value: string
}

/** An id of ours or of a partner's event. */
const ID = /^(?:[a-z]{3}_[0-9a-f]{32}|evt_[0-9a-f]+)$/

/** Minimum length of a part of an address. */
export const MIN_PART = 3

/** Returns whether a text may be a part of an address. */
export const isAddressPart = (text: string): boolean => text.length >= MIN_PART && /^[^\s@]*@?[^\s@]*$/.test(text)

const TOKEN = new RegExp(`^[0-9A-Za-z]{${TOKEN_LENGTH}}$`)

export const SearchTerm = textSchema<SearchTerm>(
  "a part of a name or an e-mail address, an id such as cmp_…, an NPI, a token, or the text of a key or signing secret",
  (text) => {
    const value = text.trim()
    if (value.startsWith("orp_")) {
      if (!isApiKeyText(value, true) && !isApiKeyText(value, false)) throw new RangeError("the API key is not whole")
      return { by: "key", value }
    }
    if (value.startsWith("whsec_")) return { by: "secret", value }
    if (value.includes("@")) {
      const email = canonicalEmail(value)
      if (email !== undefined) return { by: "email", value: email }
      if (!isAddressPart(value)) throw new RangeError("the e-mail address is not valid")
      return { by: "name", value }
    }
    if (/^\d{10}$/.test(value)) {
      const npi = parseInput(Npi)(value)
      if (Result.isFailure(npi)) throw new RangeError(npi.failure.reason)
      return { by: "npi", value }
    }
    if (TOKEN.test(value)) return { by: "token", value }
    const id = value.toLowerCase()
    if (ID.test(id)) return { by: "id", value: id }
    if (/^[a-z]{3}_[0-9a-f]*$/.test(id)) throw new RangeError("the id is not whole: 32 hex digits follow its prefix")
    return value === "" ? undefined : { by: "name", value }
  },
)
