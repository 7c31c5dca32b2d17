import { countCiphertexts, listKeyUses, resealCiphertexts } from "@outreach/backoffice/keys/keysAtRest"
import { Schema } from "effect"
import { changing, group, reading } from "../Declaration.ts"
import { formatCount } from "../output/format.ts"
import { printProgress } from "../output/Output.ts"
import { uncheckedCipher } from "../secretCipher.ts"

/** No key of `SECRETS_KEY` opens some ciphertexts. */
class CiphertextsUnopened extends Schema.TaggedError<CiphertextsUnopened>()("CiphertextsUnopened", {
  resealed: Schema.Int,
  already: Schema.Int,
  unopened: Schema.Int,
}) {
  override get message(): string {
    const [unopened, resealed] = [formatCount(this.unopened, "ciphertext"), formatCount(this.resealed, "ciphertext")]
    return `No key of SECRETS_KEY opens ${unopened}; see \`ops keys-at-rest list\`. Resealed ${resealed}; ${this.already} were under the newest key already.`
  }
}

const list = reading({
  about:
    "Count what is stored encrypted by the key of SECRETS_KEY that opens it, newest key first. No key opens what has no key id",
  *run() {
    const { advance } = yield* printProgress("reading", yield* countCiphertexts)
    return yield* listKeyUses(advance)
  },
  columns: ["table", "keyId", "ciphertexts"],
})

const reseal = changing({
  about:
    "Encrypt what is stored under older keys of SECRETS_KEY again, with the newest. May be interrupted and run again",
  *run() {
    const { advance } = yield* printProgress("resealing", yield* countCiphertexts)
    const result = yield* resealCiphertexts(advance)
    return result.unopened > 0 ? yield* new CiphertextsUnopened(result) : result
  },
})

/** `ops keys-at-rest …` */
export const keysAtRest = group({
  about: "The keys of SECRETS_KEY, which encrypt what is stored",
  commands: { list, reseal },
  services: uncheckedCipher,
})
