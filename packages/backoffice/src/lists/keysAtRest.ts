import { countCiphertexts, listKeyUses } from "../keys/keysAtRest.ts"
import { TaskProgress } from "../TaskProgress.ts"
import { inOps, list } from "./List.ts"

export const keysAtRest = list("keys-at-rest list", {
  about:
    "Count stored secrets by the key of SECRETS_KEY that decrypts them, newest first. Secrets without a key id can't be decrypted",
  key: ["table", "keyId"],
  *read() {
    const { advance } = yield* (yield* TaskProgress).bar("reading", yield* countCiphertexts)
    return yield* listKeyUses(advance)
  },
  columns: { table: inOps, keyId: inOps, ciphertexts: inOps },
  empty: "No stored secrets.",
})
