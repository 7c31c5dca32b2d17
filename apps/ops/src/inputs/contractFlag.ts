import { Effect } from "effect"
import { CliError, Flag } from "effect/cli"

/** A schema of the contract that parses texts. */
interface TextSchema<Value> {
  safeParse(text: string): {
    readonly data?: Value | undefined
    readonly error?: { readonly issues: ReadonlyArray<{ readonly message: string }> } | undefined
  }
}

/**
 * Creates a flag whose text is parsed by a schema of the contract. Loads the contract only if the flag is given, because its schemas take a fifth
 * of the CPU time of a short command.
 */
export const contractFlag = <Value>(
  name: string,
  schemaOf: (contract: typeof import("@outreach/contract")) => TextSchema<Value>,
  /** Describes a valid value, given the schema's error message. */
  expected: (problem: string) => string,
): Flag.Flag<Value> =>
  Flag.String(name).pipe(
    Flag.mapEffect(
      Effect.fnUntraced(function* (value) {
        const contract = yield* Effect.promise(() => import("@outreach/contract"))
        const { data, error } = schemaOf(contract).safeParse(value)
        if (data !== undefined) return data
        const problem = error?.issues[0]?.message ?? ""
        return yield* new CliError.InvalidValue({ option: name, value, expected: expected(problem), kind: "flag" })
      }),
    ),
  )
