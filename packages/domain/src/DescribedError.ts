import { type Cause, Data } from "effect"

/** The names that stand in braces in a sentence. */
type NameIn<Sentence extends string> = Sentence extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NameIn<Rest>
  : never

type FieldsOf<Description> = Description extends (fields: infer Fields) => string
  ? Fields
  : Description extends string
    ? { readonly [Name in NameIn<Description>]: string | number }
    : never

/**
 * Creates the class of an error from its tag and the sentence that says what is wrong and what to do. The error's fields are the names in braces, or the
 * parameters of a function that returns the sentence.
 *
 * @example
 * class ProgramNotFound extends DescribedError("ProgramNotFound", "No program {programId}.") {}
 */
export const DescribedError = <
  const Tag extends string,
  const Description extends string | ((fields: never) => string),
  Fields = FieldsOf<Description>,
>(
  tag: Tag,
  description: Description,
): (new (
  ...fields: object extends Fields ? [] : [Fields]
) => Cause.YieldableError & { readonly _tag: Tag } & Readonly<Fields>) => {
  const Tagged: new (fields: Record<string, unknown>) => Cause.YieldableError = Data.TaggedError(tag)<
    Record<string, unknown>
  >
  return class extends Tagged {
    override get message(): string {
      if (typeof description === "function") return description(this as never)
      const fields = this as unknown as Record<string, string | number>
      return description.replace(/\{(\w+)\}/g, (_, name: string) => String(fields[name]))
    }
  } as never
}
