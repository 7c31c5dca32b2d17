import { type SecretCipher, SecretUnopened } from "@outreach/postgres/deliveries/SecretCipher"
import { decodeRows } from "@outreach/postgres/rowsOf"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"

/** Fails with `SecretUnopened` if a cipher does not open the newest signing secret, so that nothing is encrypted by a key that no process has. */
export const assertKeyOpens = Effect.fnUntraced(function* ({ keyIdOf }: SecretCipher["Service"]) {
  const sql = yield* SqlClient.SqlClient
  const [newest] = yield* sql`
    select organization_id as "organizationId", ciphertext from signing_secrets order by id desc limit 1`.pipe(
    decodeRows({ organizationId: Schema.String, ciphertext: Schema.Uint8Array }),
  )
  if (newest !== undefined && keyIdOf(newest.ciphertext, newest.organizationId) === undefined) {
    return yield* new SecretUnopened()
  }
})
