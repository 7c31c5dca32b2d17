import { Context, Effect } from "effect"
import { Command } from "effect/cli"
import { checkRange } from "../inputs/checkRange.ts"
import { audited } from "./audited.ts"

/** How a command touches the deployment: it shows data, shows personal data, or changes something. */
export class Access extends Context.Service<Access, "reads" | "reveals" | "changes">()("ops/Access") {}

type Config = Command.Command.Config
type Input<C extends Config> = Command.Command.Config.Infer<C>

/** Declares a command that only shows data, none of it personal. The audit log does not record it. */
export const reading = <const Name extends string, const C extends Config, R, E>(
  name: Name,
  config: C,
  handler: (input: Input<C>) => Effect.Effect<void, E, R>,
) => Command.make(name, config, checked(handler)).pipe(Command.annotate(Access, "reads"))

/** Declares a command that shows personal data or searches by it. The audit log records it before it runs, and how it ended. */
export const revealing = <const Name extends string, const C extends Config, R, E>(
  name: Name,
  config: C,
  handler: (input: Input<C>) => Effect.Effect<void, E, R>,
) => Command.make(name, config, audited(name, config, checked(handler))).pipe(Command.annotate(Access, "reveals"))

/** Declares a command that changes something. The audit log records it before it runs, and how it ended. */
export const changing = <const Name extends string, const C extends Config, R, E>(
  name: Name,
  config: C,
  handler: (input: Input<C>) => Effect.Effect<void, E, R>,
  options: {
    /** Whether the command may create the audit log, and is then recorded once it has ended. Default false. */
    readonly createsLog?: boolean
  } = {},
) =>
  Command.make(name, config, audited(name, config, checked(handler), options)).pipe(Command.annotate(Access, "changes"))

const checked =
  <Given, R, E>(handler: (input: Given) => Effect.Effect<void, E, R>) =>
  (input: Given) =>
    Effect.andThen(checkRange(input), handler(input))
