import { Layer } from "effect"
import { SecureRandom } from "effect/crypto"

const POOL_BYTES = 4096

let pool = new Uint8Array(0)
let used = 0

/** Random bytes of the system's generator, drawn in bulk: each request has an id, and a draw of its own is a twentieth of a look-up. */
export const pooledRandom = Layer.succeed(
  SecureRandom.SecureRandom,
  SecureRandom.make((size) => {
    if (size > POOL_BYTES) return crypto.getRandomValues(new Uint8Array(size))
    if (used + size > pool.length) {
      pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES))
      used = 0
    }
    used += size
    return pool.slice(used - size, used)
  }),
)
