import { DescribedError } from "@outreach/domain/DescribedError"
import type { Effect } from "effect"
import { formatCounted } from "../format.ts"
import { countCiphertexts, listKeyUses, resealCiphertexts } from "../keys/keysAtRest.ts"
import { TaskProgress } from "../TaskProgress.ts"
import { inOps, list } from "./List.ts"
import { operation } from "./Operation.ts"

export const keysAtRest = list("keys-at-rest list", {
  about:
    "Count stored secrets by the key of SECRETS_KEY that decrypts them, newest first. Secrets without a key id can't be decrypted",
  key: ["table", "keyId"],
  *read() {
    const { advance } = yield* (yield* TaskProgress).bar("reading", yield* countCiphertexts)
    return yield* listKeyUses(advance)
  },
  columns: inOps("table", "keyId", "ciphertexts"),
  empty: "No stored secrets.",
  filledBy: "secrets rotate",
})

class CiphertextsUnopened extends DescribedError(
  "CiphertextsUnopened",
  ({ unopened, resealed, already }: Effect.Success<ReturnType<typeof resealCiphertexts>>) =>
    `No key of SECRETS_KEY opens ${formatCounted(unopened, "ciphertext")}; see \`ops keys-at-rest list\`. Resealed ${formatCounted(resealed, "ciphertext")}; ${already} were under the newest key already.`,
) {}

export const resealKeys = operation("keys-at-rest reseal", {
  about: "Re-encrypt stored secrets with the newest key of SECRETS_KEY. Can be interrupted and repeated",
  *run() {
    const { advance } = yield* (yield* TaskProgress).bar("resealing", yield* countCiphertexts)
    const result = yield* resealCiphertexts(advance)
    return result.unopened === 0 ? result : yield* new CiphertextsUnopened(result)
  },
})
