import { countCiphertexts, listKeyUses, resealCiphertexts } from "@outreach/backoffice/keys/keysAtRest"
import { changing, group, reading } from "../Declaration.ts"
import { formatCount, printProgress, refuse } from "../output/Output.ts"
import { uncheckedCipher } from "../secretCipher.ts"

const list = reading({
  about:
    "Count what is stored encrypted by the key of SECRETS_KEY that opens it, newest key first. No key opens what has no key id",
  *run() {
    const { advance } = yield* printProgress("reading", yield* countCiphertexts)
    return yield* listKeyUses(advance)
  },
  columns: ["table", "keyId", "ciphertexts"],
  key: ["table", "keyId"],
})

const reseal = changing({
  about:
    "Encrypt what is stored under older keys of SECRETS_KEY again, with the newest. May be interrupted and run again",
  *run() {
    const { advance } = yield* printProgress("resealing", yield* countCiphertexts)
    const result = yield* resealCiphertexts(advance)
    if (result.unopened === 0) return result
    const [unopened, resealed] = [result.unopened, result.resealed].map((count) => formatCount(count, "ciphertext"))
    return yield* refuse(
      "CiphertextsUnopened",
      `No key of SECRETS_KEY opens ${unopened}; see \`ops keys-at-rest list\`. Resealed ${resealed}; ${result.already} were under the newest key already.`,
      result,
    )
  },
})

export const keysAtRest = group({
  about: "The keys of SECRETS_KEY, which encrypt what is stored",
  commands: { list, reseal },
  services: uncheckedCipher,
})
