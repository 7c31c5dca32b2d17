import { Schema } from "effect"

/** The sandbox cannot start, or had to stop; the message says why and what to do. */
export class SandboxError extends Schema.TaggedError<SandboxError>()("SandboxError", { message: Schema.String }) {}
