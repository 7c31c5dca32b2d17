import { Schema } from "effect"

/** The sandbox cannot start, or had to stop. The message states the reason and the remedy. */
export class SandboxError extends Schema.TaggedError<SandboxError>()("SandboxError", { message: Schema.String }) {}
