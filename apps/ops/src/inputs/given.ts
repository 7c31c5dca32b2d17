import { Option } from "effect"

/** Keeps of several optional inputs those that were given. */
export const given = <Inputs extends Record<string, Option.Option<unknown>>>(inputs: Inputs): Given<Inputs> =>
  Object.fromEntries(
    Object.entries(inputs).flatMap(([key, input]) => (Option.isSome(input) ? [[key, input.value]] : [])),
  ) as Given<Inputs>

type Given<Inputs extends Record<string, Option.Option<unknown>>> = {
  readonly [Key in keyof Inputs]?: Option.Option.Value<Inputs[Key]>
}
