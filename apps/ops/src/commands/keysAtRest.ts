import { formatCounted } from "@outreach/backoffice/format"
import { countCiphertexts, resealCiphertexts } from "@outreach/backoffice/keys/keysAtRest"
import { keysAtRest as keysAtRestList } from "@outreach/backoffice/lists/keysAtRest"
import { changing, group } from "../Declaration.ts"
import { listCommand } from "../listCommand.ts"
import { printProgress, refuse } from "../output/Output.ts"
import { uncheckedCipher } from "../secretCipher.ts"

const reseal = changing({
  about: "Re-encrypt stored secrets with the newest key of SECRETS_KEY. Can be interrupted and repeated",
  *run() {
    const { advance } = yield* printProgress("resealing", yield* countCiphertexts)
    const result = yield* resealCiphertexts(advance)
    if (result.unopened === 0) return result
    const [unopened, resealed] = [result.unopened, result.resealed].map((count) => formatCounted(count, "ciphertext"))
    return yield* refuse(
      "CiphertextsUnopened",
      `No key of SECRETS_KEY opens ${unopened}; see \`ops keys-at-rest list\`. Resealed ${resealed}; ${result.already} were under the newest key already.`,
      result,
    )
  },
})

export const keysAtRest = group({
  about: "The keys of SECRETS_KEY, which encrypt what is stored",
  commands: { list: listCommand(keysAtRestList), reseal },
  services: uncheckedCipher,
})
