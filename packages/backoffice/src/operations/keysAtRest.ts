import { DescribedError } from "@outreach/domain/DescribedError"
import type { Effect } from "effect"
import { formatCounted } from "../format.ts"
import { countCiphertexts, resealCiphertexts } from "../keys/keysAtRest.ts"
import { TaskProgress } from "../TaskProgress.ts"
import { operation } from "./Operation.ts"

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
