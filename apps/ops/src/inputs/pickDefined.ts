import { Option } from "effect"

/** Returns the values of the optional inputs that are present. */
export const pickDefined = <Inputs extends Record<string, Option.Option<unknown>>>(
  inputs: Inputs,
): PickedOptions<Inputs> =>
  Object.fromEntries(
    Object.entries(inputs).flatMap(([key, input]) => (Option.isSome(input) ? [[key, input.value]] : [])),
  ) as PickedOptions<Inputs>

type PickedOptions<Inputs extends Record<string, Option.Option<unknown>>> = {
  readonly [Key in keyof Inputs]?: Option.Option.Value<Inputs[Key]>
}
