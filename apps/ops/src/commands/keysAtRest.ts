import { countCiphertexts, listKeyUses, resealCiphertexts } from "@outreach/backoffice/keys/keysAtRest"
import { Effect, Schema } from "effect"
import { Command } from "effect/cli"
import { changing, reading } from "../audit/Access.ts"
import { formatCount } from "../output/format.ts"
import { printList, printProgress, printRecord } from "../output/Output.ts"
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

const list = reading(
  "list",
  {},
  Effect.fn("ops.keysAtRest.list")(function* () {
    const { advance } = yield* printProgress("reading", yield* countCiphertexts, { quiet: false })
    yield* printList(yield* listKeyUses(advance), ["table", "keyId", "ciphertexts"])
  }, Effect.scoped),
).pipe(
  Command.withDescription(
    "Count what is stored encrypted by the key of SECRETS_KEY that opens it, newest key first. No key opens what has no key id",
  ),
)

const reseal = changing(
  "reseal",
  {},
  Effect.fn("ops.keysAtRest.reseal")(function* () {
    const { advance } = yield* printProgress("resealing", yield* countCiphertexts, { quiet: false })
    const result = yield* resealCiphertexts(advance)
    if (result.unopened > 0) return yield* new CiphertextsUnopened(result)
    yield* printRecord(result)
  }, Effect.scoped),
).pipe(
  Command.withDescription(
    "Encrypt what is stored under older keys of SECRETS_KEY again, with the newest. May be interrupted and run again",
  ),
)

/** `ops keys-at-rest …` */
export const keysAtRest = Command.make("keys-at-rest").pipe(
  Command.withDescription("The keys of SECRETS_KEY, which encrypt what is stored"),
  Command.withSubcommands([list, reseal]),
  Command.provide(uncheckedCipher),
)
