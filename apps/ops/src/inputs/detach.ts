import { Flag } from "effect/cli"

/** `--detach`: whether a command ends before the workers have carried out its job. */
export const detach = Flag.Boolean("detach").pipe(
  Flag.withDescription("Do not wait until the workers have done it"),
  Flag.withDefault(false),
)
