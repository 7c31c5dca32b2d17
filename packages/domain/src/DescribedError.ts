import { type Cause, Data } from "effect"

/** The names in braces in a message. */
type NameIn<Sentence extends string> = Sentence extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NameIn<Rest>
  : never

type FieldsOf<Description> = Description extends (fields: infer Fields) => string
  ? Fields
  : Description extends string
    ? { readonly [Name in NameIn<Description>]: string | number }
    : never

/**
 * Creates an error class from its tag and a message that describes the fault and the remedy. The error's fields are the names in braces, or the
 * parameters of a function that returns the message.
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

/** A record changed after it was read, so a change based on the reading would overwrite the newer one. */
export class ChangedMeanwhile extends DescribedError(
  "ChangedMeanwhile",
  "{id} was changed after it was read. Your change wasn't saved.",
) {}
