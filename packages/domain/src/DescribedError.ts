import { type Cause, Data } from "effect"

/**
 * Creates the class of an error from its tag and the sentence that says what is wrong and what to do. The parameters of the sentence are the error's fields.
 *
 * @example
 * class ProgramNotFound extends DescribedError(
 *   "ProgramNotFound",
 *   ({ programId }: { readonly programId: string }) => `No program ${programId}.`,
 * ) {}
 */
export const DescribedError = <const Tag extends string, Fields extends object = object>(
  tag: Tag,
  describe: (fields: Fields) => string,
): (new (
  ...fields: object extends Fields ? [] : [Fields]
) => Cause.YieldableError & { readonly _tag: Tag } & Readonly<Fields>) => {
  const Tagged: new (fields: Record<string, unknown>) => Cause.YieldableError = Data.TaggedError(tag)<
    Record<string, unknown>
  >
  return class extends Tagged {
    override get message(): string {
      return describe(this as unknown as Fields)
    }
  } as never
}
